"""Version 15: what a user's turns speak of, by the time it happened."""

from typing import Final

from hotmem.storage.sqlite.connection import Connection

STATEMENTS: Final = (
    "ALTER TABLE happenings ADD COLUMN user INTEGER NOT NULL DEFAULT 0",
    "UPDATE happenings SET user = (SELECT t.user FROM turns t WHERE t.id = happenings.turn)",
    "CREATE INDEX happenings_by_time ON happenings (user, since)",
)


def apply(conn: Connection) -> None:
    """Adds the column and its index."""
    for statement in STATEMENTS:
        conn.execute(statement)
