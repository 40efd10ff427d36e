"""The encoder that made the vectors of a database."""

from hotmem.storage.database import Connection, Pending


def current(conn: Connection) -> str | None:
    """Name and dimension of the database's encoder; None if it has none yet."""
    return ask_current(conn)()


def ask_current(conn: Connection) -> Pending[str | None]:
    """Name and dimension of the database's encoder; None if it has none yet."""
    rows = conn.execute("SELECT value FROM meta WHERE key = 'encoder'")
    return lambda: next((str(value) for (value,) in rows.fetchall()), None)


def identified(encoder: str, dimension: int) -> str:
    """The stored form of an encoder's name and dimension."""
    return f"{encoder}/{dimension}"
