"""Ids of memories, turns and decisions as people read and type them: long ones are abbreviated."""

import re
from typing import Final, Literal

from hotmem.errors import InvalidInput
from hotmem.storage.database import Connection
from hotmem.types import UserKey

SHOWN: Final = 12
"""Characters of an id shown in tables."""

FEWEST: Final = 4
"""Fewest characters that are looked up as the prefix of an id."""

LENGTH: Final = 32

NAMED: Final = 5
"""Ids listed in the error for an ambiguous prefix."""

Table = Literal["memories", "turns", "decisions"]
"""Tables whose ids can be looked up."""

_BEGINNING: Final = re.compile(rf"[0-9a-f]{{{FEWEST},{LENGTH - 1}}}")
_WHOLE: Final = re.compile(rf"[0-9a-f]{{{LENGTH}}}")


def short(name: str) -> str:
    """The first characters of a generated id; other ids unchanged."""
    return name[:SHOWN] if _WHOLE.fullmatch(name) else name


def whole(conn: Connection, user: UserKey, table: Table, given: str) -> str:
    """The user's id that `given` is, or is a prefix of; `given` itself if there is none.

    Raises:
        InvalidInput: If several ids have this prefix.
    """
    beginning = given.strip().lower()
    known = conn.execute(
        f"SELECT 1 FROM {table} WHERE user_key = ? AND public_id = ?", (user, given)
    ).fetchone()
    if known or not _BEGINNING.fullmatch(beginning):
        return given
    rows = conn.execute(
        f"""SELECT public_id FROM {table} WHERE user_key = ? AND public_id > ? AND public_id < ?
            AND length(public_id) = ? ORDER BY public_id LIMIT ?""",
        (user, beginning, f"{beginning}g", LENGTH, NAMED + 1),
    ).fetchall()
    if len(rows) > 1:
        several = ", ".join(name for (name,) in rows[:NAMED]) + (", …" if len(rows) > NAMED else "")
        raise InvalidInput(
            f"{given!r} is the beginning of several ids: {several}. Give more characters of one."
        )
    return str(rows[0][0]) if rows else given
