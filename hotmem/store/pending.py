"""Turns that wait to be understood. The rows outlive a crash; what was not finished is done on the next open."""

from collections.abc import Sequence
from typing import Final

from hotmem.store import turns
from hotmem.store.driver import Connection
from hotmem.store.imports import of_first
from hotmem.types import Turn

FOLLOWING: Final = "SELECT turn FROM pending WHERE attempts < :attempts AND import {whose} ORDER BY turn LIMIT :limit"


def following(conn: Connection, limit: int, attempts: int) -> list[tuple[int, Turn]]:
    """The oldest waiting turns with their row numbers, without those tried `attempts` times already.

    What was said comes before what came with an import, and what came with one that is not finished does not come.
    """
    for whose in ("IS NULL", of_first("pending w WHERE w.attempts < :attempts")):
        keys = conn.execute(FOLLOWING.format(whose=whose), {"attempts": attempts, "limit": limit}).fetchall()
        if keys:
            return list(turns.select(conn, f"t.id IN ({', '.join('?' * len(keys))}) ORDER BY t.id", tuple(key for (key,) in keys)))
    return []


def tried(conn: Connection, keys: Sequence[int]) -> None:
    """Counts one failed try of each turn."""
    conn.executemany("UPDATE pending SET attempts = attempts + 1 WHERE turn = ?", [(key,) for key in keys])


def retry(conn: Connection) -> None:
    """Gives set-aside turns their tries back."""
    conn.execute("UPDATE pending SET attempts = 0 WHERE attempts > 0")
