"""Version 21: what was forgotten is told by marks from what is new, and what was forgotten with a time of grace is kept until it is over.

A mark is a keyed hash of a user's and a turn's or memory's id, with a key of the file: it tells
that an id was forgotten, and nothing else. Rows of a deletion are data, not rows of their tables:
no search, no export and no index knows of them.
"""

from typing import Final

from hotmem.storage.sqlite.connection import Connection

STATEMENTS: Final = (
    "CREATE TABLE forgotten (mark BLOB PRIMARY KEY) WITHOUT ROWID",
    """CREATE TABLE deletions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        user INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
        asked_at INTEGER NOT NULL,
        erase_at INTEGER NOT NULL,
        counts TEXT NOT NULL,
        encoder TEXT
    )""",
    "ALTER TABLE imports ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX deletions_of_user ON deletions (user, id)",
    "CREATE INDEX deletions_by_time ON deletions (erase_at)",
    """CREATE TABLE deleted_rows (
        deletion INTEGER NOT NULL REFERENCES deletions ON DELETE CASCADE,
        place INTEGER NOT NULL,
        relation TEXT NOT NULL,
        before TEXT,
        after TEXT,
        PRIMARY KEY (deletion, place)
    ) WITHOUT ROWID""",
)


def apply(conn: Connection) -> None:
    """Adds the tables."""
    for statement in STATEMENTS:
        conn.execute(statement)
