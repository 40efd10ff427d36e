"""Version 4: a memory's value as values are compared, so that one of thousands that a person likes is found at once."""

from hotmem.storage.sqlite.connection import Connection
from hotmem.text.validation import plain


def apply(conn: Connection) -> None:
    """Adds and indexes the values, and indexes the memories by time, for corrections of what was said lately."""
    conn.execute("ALTER TABLE memories ADD COLUMN value TEXT NOT NULL DEFAULT ''")
    values = [(plain(value), key) for key, value in conn.execute("SELECT id, object FROM memories")]
    conn.executemany("UPDATE memories SET value = ? WHERE id = ?", values)
    conn.execute("DROP INDEX memories_by_relation")
    conn.execute(
        "CREATE INDEX memories_by_relation ON memories (user, relation, subject COLLATE NOCASE, value)"
    )
    conn.execute("CREATE INDEX memories_by_time ON memories (user, said_at)")
