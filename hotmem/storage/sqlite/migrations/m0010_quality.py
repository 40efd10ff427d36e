"""Version 10: the quality record, a row for each day, intent and layer of a user, so that it grows with days and not with turns.

An empty intent is that of questions that were not read in time, an empty layer is the whole block.
`latencies` is a JSON list of pairs of bin and count; see `hotmem.types.Latencies`.
"""

from hotmem.storage.sqlite.connection import Connection


def apply(conn: Connection) -> None:
    """Adds the table."""
    conn.execute(
        """CREATE TABLE quality (
            user INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
            day TEXT NOT NULL,
            intent TEXT NOT NULL,
            layer TEXT NOT NULL,
            turns INTEGER NOT NULL,
            given INTEGER NOT NULL,
            used INTEGER NOT NULL,
            tokens INTEGER NOT NULL,
            wasted INTEGER NOT NULL,
            helped INTEGER NOT NULL,
            empty INTEGER NOT NULL,
            late INTEGER NOT NULL,
            latencies TEXT NOT NULL,
            PRIMARY KEY (user, day, intent, layer)
        ) WITHOUT ROWID"""
    )
