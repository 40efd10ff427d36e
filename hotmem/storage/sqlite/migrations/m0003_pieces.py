"""Version 3: the signs of each passage's word pieces, for late interaction.

Passages are embedded anew, their speaker's name with them.
"""

from hotmem.storage.sqlite.connection import Connection


def apply(conn: Connection) -> None:
    """Creates the table; every passage waits to be embedded."""
    conn.execute(
        "CREATE TABLE pieces (passage INTEGER PRIMARY KEY REFERENCES passages ON DELETE CASCADE, width INTEGER NOT NULL, signs BLOB NOT NULL)"
    )
    conn.execute("UPDATE passages SET vector = NULL WHERE vector IS NOT NULL")
    conn.execute("UPDATE passage_entries SET bits = NULL WHERE bits IS NOT NULL")
