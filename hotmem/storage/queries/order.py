"""What comes after what.

A time that never goes back for what is said live, whatever the clock shows.

It is a hybrid logical clock (Kulkarni and others 2014): the clock's time, and one microsecond after
what was told last where the clock is behind that. What is told of the past - a recording, an import
- has the time it was said, so that history may be added in any order.
"""

from functools import lru_cache
from typing import Final

from hotmem.core.logs import log
from hotmem.storage.database import Connection
from hotmem.types import UserKey

LIVE: Final = 3_600_000_000
"""Microseconds of the wall clock within which what is said is said now, and not told of the
past: a call may wait that long to be written."""

FIRST: Final = 1_767_225_600_000_000
"""The first day of 2026: nothing was said to this version before it, and a clock that shows less
has not been set."""

BEHIND: Final = 86_400_000_000
"""Microseconds that a clock must have gone back, or stand ahead, to be called wrong: a day, more
than any change of a zone."""


ENDED_AHEAD: Final = """
    UPDATE memories SET valid_until = :at WHERE user_key = :user AND superseded_by IS NOT NULL
        AND valid_until > :ahead"""
"""What ended by a clock that was ahead has ended now that it is right, and not only in years."""


def order_time(conn: Connection, user: UserKey, spoken_at: int, now: int) -> int:
    """The place in a user's order of what is said at a time, which is noted as their latest if it is that.

    Args:
        conn: The writer, within a transaction.
        user: The user.
        spoken_at: When it is said, by the clock of who says it, as the file keeps times.
        now: The wall clock, likewise.
    """
    (latest,) = conn.execute("SELECT order_time FROM users WHERE id = ?", (user,)).fetchone()
    place = spoken_at
    if abs(spoken_at - now) <= LIVE:
        place = max(spoken_at, latest + 1, FIRST)
        if latest - spoken_at > BEHIND:
            if spoken_at >= FIRST:
                conn.execute(
                    ENDED_AHEAD, {"user": user, "at": spoken_at, "ahead": spoken_at + BEHIND}
                )
            _tell(
                "the clock is behind what was stored before, or was ahead then: set it "
                "right; order is kept",
                round((latest - spoken_at) / BEHIND),
            )
    elif spoken_at - now > BEHIND:
        _tell(
            "a turn is dated after the clock of this machine: set right which of them is wrong",
            round((spoken_at - now) / BEHIND),
        )
    note(conn, user, place)
    return place


@lru_cache(maxsize=64)
def _tell(event: str, days: int) -> None:
    """Once of each: a whole history may be dated ahead."""
    log.warning(event, days=days)


def note_anew(conn: Connection, user: UserKey) -> None:
    """Notes the latest place of what is left of a user; reads all their turns."""
    conn.execute(
        """UPDATE users SET order_time = max(coalesce((SELECT max(order_time) FROM turns
               WHERE user_key = users.id), 0),
               coalesce((SELECT max(order_time) FROM memories WHERE user_key = users.id), 0))
                   WHERE id = ?""",
        (user,),
    )


def note(conn: Connection, user: UserKey, place: int) -> None:
    """Notes a place in a user's order that something has already."""
    conn.execute("UPDATE users SET order_time = max(order_time, ?) WHERE id = ?", (place, user))
