"""Spans of stored times, whole microseconds since 1970 in UTC; the order of what was said; ids."""

import re
from datetime import datetime
from functools import lru_cache
from typing import Final, Literal

from hotmem.core.logs import log
from hotmem.errors import InvalidInput
from hotmem.storage.database import Connection
from hotmem.storage.rows import from_stored as from_stored
from hotmem.storage.rows import to_stored as to_stored
from hotmem.types import UserKey


def span(after: datetime | None, before: datetime | None) -> tuple[int, int]:
    """The stored times from one on and before another; None is open."""
    return (
        -(2**62) if after is None else to_stored(after),
        2**62 if before is None else to_stored(before),
    )


def now(conn: Connection) -> datetime:
    """The time by the database's clock. The clocks of its clients may differ."""
    return from_stored(conn.scalar("SELECT clock()"))


LIVE: Final = 3_600_000_000
"""Largest difference in microseconds from the wall clock at which speech counts as live."""

FIRST: Final = 1_767_225_600_000_000
"""The first day of 2026, as stored. A clock that shows less has not been set."""

BEHIND: Final = 86_400_000_000
"""Microseconds by which a clock must differ to count as wrong: more than any change of a time
zone."""


ENDED_AHEAD: Final = """
    UPDATE memories SET valid_until = :at WHERE user_key = :user AND superseded_by IS NOT NULL
        AND valid_until > :ahead"""
"""Ends memories now whose end was set by a clock that was ahead."""


def order_time(conn: Connection, user: UserKey, spoken_at: int, now: int) -> int:
    """The order time of speech; stores it as the user's latest if it is that.

    Args:
        conn: The writer, within a transaction.
        user: The user.
        spoken_at: When it is said, by the speaker's clock, as stored.
        now: The wall clock, as stored.
    """
    latest = conn.scalar("SELECT order_time FROM users WHERE id = ?", (user,))
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
    """Logs a warning once per event and number of days: a whole history may be dated ahead."""
    log.warning(event, days=days)


def note_anew(conn: Connection, user: UserKey) -> None:
    """Recomputes the latest order time of a user from all rows."""
    conn.execute(
        """UPDATE users SET order_time = greatest(
               coalesce((SELECT max(order_time) FROM turns WHERE user_key = users.id), 0),
               coalesce((SELECT max(order_time) FROM memories WHERE user_key = users.id), 0))
           WHERE id = ?""",
        (user,),
    )


def note(conn: Connection, user: UserKey, place: int) -> None:
    """Raises the latest order time of a user to at least this one."""
    conn.execute(
        "UPDATE users SET order_time = greatest(order_time, ?) WHERE id = ?", (place, user)
    )


SHOWN: Final = 12
"""Characters of an id shown in tables."""

FEWEST: Final = 4
"""Fewest characters that are looked up as the prefix of an id."""

LENGTH: Final = 32

NAMED: Final = 5
"""Ids listed in the error for an ambiguous prefix."""

Table = Literal["memories", "turns", "decisions", "sessions"]
"""Tables whose ids can be looked up."""

_BEGINNING: Final = re.compile(rf"[0-9a-f]{{{FEWEST},{LENGTH - 1}}}")
_WHOLE: Final = re.compile(rf"[0-9a-f]{{{LENGTH}}}")


def short(name: str) -> str:
    """The first characters of a generated id; other ids unchanged."""
    return name[:SHOWN] if _WHOLE.fullmatch(name) else name


def row_of(conn: Connection, user: UserKey, table: Table, name: str | None) -> int | None:
    """The row number of a user's id; None if it is not there."""
    key: int | None = conn.scalar(
        f"SELECT id FROM {table} WHERE user_key = ? AND public_id = ?", (user, name)
    )
    return key


def whole(conn: Connection, user: UserKey, table: Table, given: str) -> str:
    """The user's id that `given` is, or is a prefix of; `given` itself if there is none.

    Raises:
        InvalidInput: If several ids have this prefix.
    """
    beginning = given.strip().lower()
    if row_of(conn, user, table, given) is not None or not _BEGINNING.fullmatch(beginning):
        return given
    names = conn.column(
        f"""SELECT public_id FROM {table} WHERE user_key = ? AND public_id > ? AND public_id < ?
            AND length(public_id) = ? ORDER BY public_id LIMIT ?""",
        (user, beginning, f"{beginning}g", LENGTH, NAMED + 1),
    )
    if len(names) > 1:
        several = ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")
        raise InvalidInput(
            f"{given!r} is the beginning of several ids: {several}. Give more characters of one."
        )
    return names[0] if names else given
