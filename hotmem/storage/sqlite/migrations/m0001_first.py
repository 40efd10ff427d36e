"""Version 1: the schema of the first release, in `m0001_first.sql`.

Times are microseconds since 1970-01-01 UTC. Row numbers are never used twice (AUTOINCREMENT): a
background job that was read for a row that is deleted meanwhile must not write to a later row,
least of all to another user's. A passage, memory or summary without a vector waits to be embedded;
`held` rows failed and are skipped until they are retried. Rows of `deletions` and `deleted_rows`
are data that can be restored: no search, export or index reads them. The revision of a user's
index changes whenever more is needed than reading the entries after the last one known.
"""

from collections.abc import Iterator
from importlib.resources import files

from hotmem.storage.sqlite.connection import Connection, complete_statement


def apply(conn: Connection) -> None:
    """Creates every table, index and trigger."""
    script = files("hotmem.storage.sqlite.migrations").joinpath("m0001_first.sql")
    for statement in _statements(script.read_text("utf-8")):
        conn.execute(statement)
    conn.execute("INSERT INTO meta (key, value) VALUES ('evolution', unixepoch())")


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; a trigger, which has semicolons inside, stays whole."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if complete_statement(statement):
            yield statement
            statement = ""
