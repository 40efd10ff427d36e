"""Version 14: token signs of memories that were stored outright, for late interaction.

Those are embedded anew.
"""

from hotmem.storage.sqlite.connection import Connection


def apply(conn: Connection) -> None:
    """Creates the table; every memory that comes from no turn waits to be embedded."""
    conn.execute(
        "CREATE TABLE memory_pieces (memory INTEGER PRIMARY KEY REFERENCES memories ON DELETE CASCADE, width INTEGER NOT NULL, signs BLOB NOT NULL)"
    )
    conn.execute(
        "UPDATE memories SET vector = NULL WHERE vector IS NOT NULL AND id NOT IN (SELECT memory FROM sources)"
    )
