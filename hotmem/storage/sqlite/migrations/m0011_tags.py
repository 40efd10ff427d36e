"""Version 11: the tags in use by when they were last used, so that storing a memory reads the last ones and not all."""

from hotmem.storage.sqlite.connection import Connection


def apply(conn: Connection) -> None:
    """Adds the index."""
    conn.execute(
        "CREATE INDEX tags_in_use ON tags (user, used_at DESC, name) WHERE NOT archived AND merged_into IS NULL AND vector NOT NULL"
    )
