"""Which encoder the vectors of a file are of."""

from hotmem.storage.database import Connection, Pending


def current(conn: Connection) -> str | None:
    """Name and dimension of the file's encoder; None if it has none yet."""
    return ask_current(conn)()


def ask_current(conn: Connection) -> Pending[str | None]:
    """Name and dimension of the file's encoder; None if it has none yet."""
    rows = conn.execute("SELECT value FROM meta WHERE key = 'encoder'")
    return lambda: next((str(value) for (value,) in rows.fetchall()), None)


def identified(encoder: str, dimension: int) -> str:
    """What a file calls an encoder."""
    return f"{encoder}/{dimension}"
