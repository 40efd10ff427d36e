"""The material of a session-start block: what is stored of the user, and its evidence."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Final, NamedTuple

from hotmem.block.rendering import render_session_start
from hotmem.ranking.relevance import confidence, mark
from hotmem.storage import queries
from hotmem.storage.database import Connection
from hotmem.text.escaping import escape_for_prompt
from hotmem.text.timezones import to_zone
from hotmem.types import Evidence, EvidenceKind, Interval, Item, Layer, UserKey
from hotmem.types.sessions import MemoryCandidate, SessionFacts
from hotmem.understanding.facts.instructions.safety import (
    capitalize_words,
    preferred_name,
    refused_name,
)
from hotmem.understanding.facts.pipeline import UNNAMED_SPEAKER

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


@dataclass(frozen=True, slots=True)
class Material:
    """What the lines of a block are selected from.

    Attributes:
        request: The request.
        stored: What is stored of the user.
        evidence: The evidence of the memories and passages in it.
    """

    request: SessionStartRequest
    stored: SessionFacts
    evidence: Mapping[tuple[EvidenceKind, int], Evidence]

    def local(self, moment: datetime) -> datetime:
        """A time in the user's time zone."""
        return to_zone(moment, self.request.at.tzinfo)

    def item(self, text: str, kind: EvidenceKind, key: int, relevance: float = 1.0) -> Item:
        """An item of the block, made from a piece of evidence.

        Args:
            text: The text as shown.
            kind: The kind of the evidence.
            key: Its row number.
            relevance: Its relevance, 0 to 1.
        """
        found = self.evidence[kind, key]
        trusted = confidence(found, self.request.at)
        layer = Layer.FACTS if kind is EvidenceKind.MEMORY else Layer.VERBATIM
        return Item(
            text=text,
            kind=kind,
            layer=layer,
            layers=(layer,),
            relevance=relevance,
            confidence=trusted,
            mark=mark(relevance, trusted),
            turn_ids=found.turn_ids,
            memory_id=found.memory_id,
            session_id=found.session_id,
            speaker=found.speaker,
            said_at=self.local(found.said_at),
            vector=None if found.former else found.vector,
        )


def read_material(
    conn: Connection, user: UserKey, relations: Sequence[str], request: SessionStartRequest
) -> Material:
    """Read what is stored of a user.

    Args:
        conn: A connection.
        user: The user.
        relations: The relations of lasting facts.
        request: The request.
    """
    if request.rules_only:
        stored = queries.sessions.read_rules(conn, user, request.at)
    else:
        stored = queries.sessions.read(
            conn,
            user,
            relations,
            UNNAMED_SPEAKER,
            today_and_tomorrow(request.at),
            request.session_id,
            request.at,
        )
    memories = {row.key for row in (*stored.rules, *stored.facts, *stored.notes)} | {
        key for dated in stored.dated for key in dated.memories
    }
    passages = [dated.passage for dated in stored.dated if not dated.memories]
    keys = {EvidenceKind.MEMORY: sorted(memories), EvidenceKind.PASSAGE: passages}
    found = queries.evidence.load(conn, user, keys)
    return Material(request, stored, {(one.kind, one.key): one for one in found})


STATES_NAME: Final = re.compile(
    r"^(?:(?:the\s+)?user(?:['’]s\s+name)?|my\s+name|(?:his|her|their)?\s*name)"
    r"(?:\s+is|:)(?:\s+called|\s+named)?\s+"
    r"(?P<name>[^\W\d_][\w'’-]*(?:\s+[A-Z][\w'’-]*){0,2})\W*$",
    re.IGNORECASE,
)
"""A stored memory that states the user's name: "User's name is Ana"."""


def name_lines(stored: SessionFacts, rules: Sequence[MemoryCandidate]) -> list[Line]:
    """One line with the name to use and the user's other name; none if no name is known.

    The preferred name precedes names in facts, a stored memory, and the speaker name. A name that
    the user refused later is left out.

    Args:
        stored: What is stored of the user.
        rules: The instructions in force, latest first within their order.
    """
    own = {stored.speaker, UNNAMED_SPEAKER, "", None}
    refused_at = {
        refused_name(rule.object).casefold(): rule.order_time
        for rule in reversed(rules)
        if rule.subject in own
    }
    stated = [
        row.object
        for row in stored.facts
        if row.relation == "is called"
        and row.subject in own
        and (not (refused := refused_at.get(row.object.casefold())) or row.order_time > refused)
    ]
    noted = next(
        (
            capitalize_words(match["name"])
            for row in stored.notes
            if (match := STATES_NAME.match(row.text))
        ),
        "",
    )
    preferred = next(
        (name for rule in rules if rule.subject in own and (name := preferred_name(rule.object))),
        "",
    )
    names = [name for name in (preferred, *stated, noted, stored.speaker) if name]
    if not names:
        return []
    other = next(
        (
            name
            for name in (stored.speaker, *names)
            if name and name.casefold() != names[0].casefold()
        ),
        "",
    )
    text = f"Call them {escape_for_prompt(names[0])}."
    if other:
        text += f" Their name is {escape_for_prompt(other)}."
    return [Line(USER_HEADING, text)]
