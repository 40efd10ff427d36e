"""Version 8: when the things happened that turns speak of, and the zones that turns were spoken in.

Of what was said before, neither is known.
"""

from typing import Final

from hotmem.storage.sqlite.connection import Connection

STATEMENTS: Final = (
    "ALTER TABLE turns ADD COLUMN zone TEXT",
    """CREATE TABLE happenings (
        turn INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE,
        start INTEGER NOT NULL,
        stop INTEGER NOT NULL,
        since INTEGER NOT NULL,
        until INTEGER NOT NULL,
        PRIMARY KEY (turn, start)
    ) WITHOUT ROWID""",
)


def apply(conn: Connection) -> None:
    """Adds the column and the table."""
    for statement in STATEMENTS:
        conn.execute(statement)
