"""Turns that wait to be understood. The rows outlive a crash; what was not finished is done on the next open."""

from collections.abc import Sequence

from hotmem.store import turns
from hotmem.store.driver import Connection
from hotmem.types import Turn


def following(conn: Connection, limit: int, attempts: int) -> list[tuple[int, Turn]]:
    """The oldest waiting turns with their row numbers, without those tried `attempts` times already."""
    where = "t.id IN (SELECT turn FROM pending WHERE attempts < ? ORDER BY turn LIMIT ?) ORDER BY t.id"
    return list(turns.select(conn, where, (attempts, limit)))


def tried(conn: Connection, keys: Sequence[int]) -> None:
    """Counts one failed try of each turn."""
    conn.executemany("UPDATE pending SET attempts = attempts + 1 WHERE turn = ?", [(key,) for key in keys])


def retry(conn: Connection) -> None:
    """Gives set-aside turns their tries back."""
    conn.execute("UPDATE pending SET attempts = 0 WHERE attempts > 0")
