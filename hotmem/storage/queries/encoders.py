"""Which encoder the vectors of a file are of."""

from hotmem.storage.database import Connection


def current(conn: Connection) -> str | None:
    """Name and dimension of the file's encoder; None if it has none yet."""
    row = conn.execute("SELECT value FROM meta WHERE key = 'encoder'").fetchone()
    return None if row is None else str(row[0])


def identified(encoder: str, dimension: int) -> str:
    """What a file calls an encoder."""
    return f"{encoder}/{dimension}"
