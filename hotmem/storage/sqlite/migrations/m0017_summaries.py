"""Version 17: how far a session is summarised, and what its topics weigh, so that it is summarised on from there."""

from typing import Final

from hotmem.storage.sqlite.connection import Connection

STATEMENTS: Final = (
    "ALTER TABLE summaries ADD COLUMN through INTEGER NOT NULL DEFAULT 0",
    """UPDATE summaries SET through = coalesce((SELECT max(t.id) FROM turns t WHERE t.session = summaries.id), 0)
       WHERE id IN (SELECT id FROM sessions WHERE summary_due = 0)""",
    """CREATE TABLE summary_topics (
        summary INTEGER NOT NULL REFERENCES summaries ON DELETE CASCADE,
        name TEXT NOT NULL,
        written TEXT NOT NULL,
        weight REAL NOT NULL,
        PRIMARY KEY (summary, name)
    ) WITHOUT ROWID""",
)


def apply(conn: Connection) -> None:
    """Adds the column and the table."""
    for statement in STATEMENTS:
        conn.execute(statement)
