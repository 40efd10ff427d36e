"""Version 22: with another encoder, rows keep the former one's vectors until they are embedded anew."""

from typing import Final

from hotmem.storage.sqlite.connection import Connection

KINDS: Final = ("passage", "memory", "summary")


def apply(conn: Connection) -> None:
    """Adds the table.

    An index in memory follows what is embedded anew by it, and need not be read again.
    """
    conn.execute(
        "CREATE TABLE former_vectors (kind TEXT PRIMARY KEY, encoder TEXT NOT NULL, upto INTEGER NOT NULL) WITHOUT ROWID"
    )
    for kind in KINDS:
        conn.execute(f"DROP TRIGGER {kind}_entry_changed")
        conn.execute(
            f"""CREATE TRIGGER {kind}_entry_changed AFTER UPDATE OF bits ON {kind}_entries
                WHEN old.bits IS NOT NULL AND old.id > coalesce((SELECT upto FROM former_vectors WHERE kind = '{kind}'), 0)
                BEGIN INSERT INTO revisions VALUES (old.user, '{kind}', 1) ON CONFLICT DO UPDATE SET number = number + 1; END"""
        )
