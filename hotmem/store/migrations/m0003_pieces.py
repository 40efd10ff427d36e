"""Version 3: the signs of each passage's word pieces, for late interaction. Passages are embedded anew, their speaker's name with them."""

from hotmem.store import entries
from hotmem.store.driver import Connection
from hotmem.types import EvidenceKind


def apply(conn: Connection) -> None:
    """Creates the table; every passage waits to be embedded."""
    conn.execute(
        "CREATE TABLE pieces (passage INTEGER PRIMARY KEY REFERENCES passages ON DELETE CASCADE, width INTEGER NOT NULL, signs BLOB NOT NULL)"
    )
    conn.execute("UPDATE passages SET vector = NULL WHERE vector IS NOT NULL")
    entries.unsign(conn, EvidenceKind.PASSAGE)
