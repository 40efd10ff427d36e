"""Ids of memories, turns and decisions as people read and type them.

The first characters of a long one.
"""

import re
from typing import Final, Literal

from hotmem.errors import InvalidInput
from hotmem.storage.database import Connection
from hotmem.types import UserKey

SHOWN: Final = 12
"""Characters of an id that a table shows: of a million ids two share them in one of 500
memories."""

FEWEST: Final = 8
"""Characters that are looked up as the beginning of an id."""

LENGTH: Final = 32

NAMED: Final = 5
"""Ids that are named where several begin alike."""

Table = Literal["memories", "turns", "decisions"]
"""What ids are of."""

_BEGINNING: Final = re.compile(rf"[0-9a-f]{{{FEWEST},{LENGTH - 1}}}")
_WHOLE: Final = re.compile(rf"[0-9a-f]{{{LENGTH}}}")


def short(name: str) -> str:
    """The beginning of an id that HotMem made; one that came from elsewhere as it is."""
    return name[:SHOWN] if _WHOLE.fullmatch(name) else name


def whole(conn: Connection, user: UserKey, table: Table, given: str) -> str:
    """The id of the user's that `given` is, or is the beginning of.

    `given` itself if there is none.

    Raises:
        InvalidInput: If several ids begin so.
    """
    beginning = given.strip().lower()
    known = conn.execute(
        f"SELECT 1 FROM {table} WHERE user_key = ? AND public_id = ?", (user, given)
    ).fetchone()
    if known or not _BEGINNING.fullmatch(beginning):
        return given
    rows = conn.execute(
        f"""SELECT public_id FROM {table} WHERE user_key = ? AND public_id > ? AND public_id < ?
            AND length(public_id) = ? LIMIT ?""",
        (user, beginning, f"{beginning}g", LENGTH, NAMED + 1),
    ).fetchall()
    if len(rows) > 1:
        several = ", ".join(name for (name,) in rows[:NAMED]) + (", …" if len(rows) > NAMED else "")
        raise InvalidInput(
            f"{given!r} is the beginning of several ids: {several}. Give more characters of one."
        )
    return str(rows[0][0]) if rows else given
