"""Version 19: who looked at a memory, changed it or took something out of it."""

from typing import Final

from hotmem.storage.sqlite.connection import Connection

STATEMENTS: Final = (
    """CREATE TABLE audit (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        user INTEGER REFERENCES users ON DELETE CASCADE,
        at INTEGER NOT NULL,
        who TEXT NOT NULL,
        action TEXT NOT NULL,
        what TEXT NOT NULL,
        turns INTEGER NOT NULL,
        memories INTEGER NOT NULL,
        sessions INTEGER NOT NULL
    )""",
    "CREATE INDEX audit_of_user ON audit (user, at)",
    "CREATE INDEX audit_by_time ON audit (at)",
)


def apply(conn: Connection) -> None:
    """Adds the table."""
    for statement in STATEMENTS:
        conn.execute(statement)
