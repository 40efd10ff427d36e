"""Version 6: how each entity's name sounds, so that names are found as they were misheard."""

from hotmem.storage.sqlite.connection import Connection
from hotmem.text.phonetics import phonetic_key


def apply(conn: Connection) -> None:
    """Adds the column, fills it, and indexes it."""
    conn.execute("ALTER TABLE entities ADD COLUMN sound TEXT NOT NULL DEFAULT ''")
    names = conn.execute("SELECT id, name FROM entities").fetchall()
    conn.executemany(
        "UPDATE entities SET sound = ? WHERE id = ?",
        [(phonetic_key(name), key) for key, name in names],
    )
    conn.execute("CREATE INDEX entities_by_sound ON entities (user, sound)")
