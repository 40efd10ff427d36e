"""Ordered steps from an empty file to today's schema, each in one transaction."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from hotmem.errors import StoreTooNew, StoreUnusable
from hotmem.storage.schema import text
from hotmem.storage.sqlite.connection import Connection, complete_statement


def _first(conn: Connection) -> None:
    statement = ""
    for line in f"{text('tables.sql')}{text('sqlite.sql')}".splitlines(keepends=True):
        statement += line
        if complete_statement(statement):  # a trigger has semicolons inside
            conn.execute(statement)
            statement = ""


STEPS: Final[tuple[Callable[[Connection], None], ...]] = (_first,)
"""The step at place n brings a file of version n to version n + 1."""

APPLICATION_ID: Final = 0x484D454D
"""Marks a file as HotMem's ("HMEM")."""


def migrate(conn: Connection, path: Path) -> None:
    """Brings the file to the newest schema; one that cannot be used is left byte for byte as it is.

    Raises:
        StoreUnusable: If the file is another program's database.
        StoreTooNew: If a newer HotMem wrote it.
    """
    version = checked_version(conn, path)
    conn.execute("PRAGMA journal_mode = WAL")
    _scalar(
        conn, "SELECT count(*) FROM sqlite_master"
    )  # begins the journal: SQLite refuses to copy one that is not begun into the file
    for number in range(version, len(STEPS)):
        conn.execute("BEGIN IMMEDIATE")
        try:
            if _scalar(conn, "PRAGMA user_version") == number:
                STEPS[number](conn)
                conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                conn.execute(f"PRAGMA user_version = {number + 1}")
            conn.execute("COMMIT")
        except BaseException:
            conn.execute("ROLLBACK")
            raise


def checked_version(conn: Connection, path: Path) -> int:
    """The file's schema version; 0 if nothing is in it.

    Raises:
        StoreUnusable: If the file is another program's database.
        StoreTooNew: If a newer HotMem wrote it.
    """
    version = _scalar(conn, "PRAGMA user_version")
    owner = _scalar(conn, "PRAGMA application_id")
    if owner != APPLICATION_ID and (
        owner or version or _scalar(conn, "SELECT count(*) FROM sqlite_master")
    ):
        raise StoreUnusable(
            f"{path} is another program's database. Open another file; this one was left as it was."
        )
    if version > len(STEPS):
        raise StoreTooNew(
            f"{path} has schema {version}, this HotMem knows up to {len(STEPS)}. Update HotMem:"
            " pip install -U pipecat-hotmem."
        )
    return version


def _scalar(conn: Connection, sql: str) -> int:
    return int(conn.execute(sql).fetchone()[0])
