"""Lines of a session-start block, their reading order, and the text that they make."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Final, NamedTuple

from hotmem.block.rendering import render_session_start
from hotmem.types import Interval, Item

USER_HEADING: Final = "The user:"

_HEADING_ORDER: Final = ("", "The", "Today,", "Tomorrow,", "Left")
"""First words of the headings, in reading order."""

MAX_WORDS: Final = 40
"""Words of a quoted line."""


class Line(NamedTuple):
    """A line that may be part of the block.

    Attributes:
        heading: The heading above it; "" for standing instructions.
        text: The line.
        item: The item that it shows; None if it shows none.
    """

    heading: str
    text: str
    item: Item | None = None


def reading_order(lines: Iterable[Line]) -> list[Line]:
    """The lines sorted: instructions, the user, plans by day, open loops."""
    return sorted(lines, key=lambda line: _HEADING_ORDER.index(line.heading.partition(" ")[0]))


def render_lines(lines: Sequence[Line]) -> str:
    """The text of the block that holds the lines; "" without lines."""
    ordered = reading_order(lines)
    headings = dict.fromkeys(line.heading for line in ordered if line.heading)
    sections = [
        [heading, *(line.text for line in ordered if line.heading == heading and line.text)]
        for heading in headings
    ]
    return render_session_start([line.text for line in ordered if not line.heading], sections)


def shorten(text: str) -> str:
    """The first `MAX_WORDS` words of a text, with an ellipsis if more follow."""
    words = text.split()
    return text if len(words) <= MAX_WORDS else f"{' '.join(words[:MAX_WORDS])} …"


@dataclass(frozen=True, slots=True)
class SessionStartRequest:
    """A request for a session-start block.

    Attributes:
        user_id: The user.
        session_id: The session that starts, or None.
        at: The current time, in the user's time zone.
        max_tokens: Token budget of the block; 0 gives no block.
        rules_only: Whether only standing instructions are wanted.
    """

    user_id: str
    session_id: str | None
    at: datetime
    max_tokens: int
    rules_only: bool = False


def today_and_tomorrow(at: datetime) -> Interval:
    """The calendar day of a time and the next one, in its time zone."""
    return Interval(
        datetime.combine(at.date(), time(), at.tzinfo),
        datetime.combine(at.date() + timedelta(days=2), time(), at.tzinfo),
    )
