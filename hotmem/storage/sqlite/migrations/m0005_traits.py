"""Version 5: the stems and the forms of each passage beside it, so that no recall has to work them out."""

from typing import Final

from hotmem.storage.queries import derived
from hotmem.storage.sqlite.connection import Connection

PORTION: Final = 10_000
"""Passages held in memory at once."""


def apply(conn: Connection) -> None:
    """Adds the columns and fills them."""
    conn.execute("ALTER TABLE passages ADD COLUMN terms TEXT NOT NULL DEFAULT ''")
    conn.execute("ALTER TABLE passages ADD COLUMN forms INTEGER NOT NULL DEFAULT 0")
    last = 0
    while rows := conn.execute(
        """SELECT p.id, substr(t.text, p.start + 1, p.stop - p.start) FROM passages p JOIN turns t ON t.id = p.turn
           WHERE p.id > ? ORDER BY p.id LIMIT ?""",
        (last, PORTION),
    ).fetchall():
        conn.executemany(
            "UPDATE passages SET terms = ?, forms = ? WHERE id = ?",
            [(*derived.of(text), key) for key, text in rows],
        )
        last = rows[-1][0]
