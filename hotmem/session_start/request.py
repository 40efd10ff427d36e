"""The request for a session-start block."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta

from hotmem.types import Interval


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
