"""Version 16: what comes after what, by the order in which it was told and not by a clock that may be wrong."""

from typing import Final

from hotmem.storage.sqlite.connection import Connection

STATEMENTS: Final = (
    "ALTER TABLE turns ADD COLUMN told_at INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE memories ADD COLUMN told_at INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE sessions ADD COLUMN told_at INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE users ADD COLUMN told_at INTEGER NOT NULL DEFAULT 0",
    "UPDATE turns SET told_at = spoken_at",
    "UPDATE memories SET told_at = said_at",
    "UPDATE sessions SET told_at = last_at",
    "UPDATE users SET told_at = coalesce((SELECT max(spoken_at) FROM turns WHERE user = users.id), 0)",
    "CREATE INDEX memories_in_order ON memories (user, told_at)",
)


def apply(conn: Connection) -> None:
    """Adds the columns and the index."""
    for statement in STATEMENTS:
        conn.execute(statement)
