"""Version 14: token signs of memories that were stored outright, for late interaction; memories are embedded anew."""

from hotmem.store import entries
from hotmem.store.driver import Connection
from hotmem.types import EvidenceKind


def apply(conn: Connection) -> None:
    """Creates the table; every memory waits to be embedded."""
    conn.execute(
        "CREATE TABLE memory_pieces (memory INTEGER PRIMARY KEY REFERENCES memories ON DELETE CASCADE, width INTEGER NOT NULL, signs BLOB NOT NULL)"
    )
    conn.execute("UPDATE memories SET vector = NULL WHERE vector IS NOT NULL")
    entries.unsign(conn, EvidenceKind.MEMORY)
