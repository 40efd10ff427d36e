"""Version 20: when the clock was last seen to be right, so that a wrong one deletes nothing."""

from hotmem.storage.sqlite.connection import Connection


def apply(conn: Connection) -> None:
    """Takes the time of the last turn that was stored, if there is one, in microseconds since 1970."""
    conn.execute(
        "INSERT INTO meta (key, value) SELECT 'clock', max(touched_at) FROM sessions HAVING max(touched_at) NOT NULL"
    )
