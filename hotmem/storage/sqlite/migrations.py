"""Ordered steps from an empty file to today's schema, each in one transaction."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from hotmem.core.location import EncryptionKey
from hotmem.errors import StoreTooNew, StoreUnusable
from hotmem.storage.queries import layer_weights, users
from hotmem.storage.queries.turns import select
from hotmem.storage.schema import TABLES, text
from hotmem.storage.sqlite.connection import Connection, complete_statement, connect, mapped_errors
from hotmem.types import START_WEIGHTS, Turn, Weights


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
    conn.scalar(
        "SELECT count(*) FROM sqlite_master"
    )  # begins the journal: SQLite refuses to copy one that is not begun into the file
    for number in range(version, len(STEPS)):
        conn.execute("BEGIN IMMEDIATE")
        try:
            if conn.scalar("PRAGMA user_version") == number:
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
        StoreUnusable: If the file is another program's database, or of a version that was never
            released.
        StoreTooNew: If a newer HotMem wrote it.
    """
    version: int = conn.scalar("PRAGMA user_version")
    owner = conn.scalar("PRAGMA application_id")
    if owner != APPLICATION_ID and (
        owner or version or conn.scalar("SELECT count(*) FROM sqlite_master")
    ):
        raise StoreUnusable(
            f"{path} is another program's database. Open another file; this one was left as it was."
        )
    check_not_newer(conn, path)
    if version == len(STEPS) and (lacking := _lacking_columns(conn)):
        raise StoreUnusable(
            f"{path} is of a development version of HotMem and lacks {', '.join(lacking)}. Export"
            " it with that version, and import that into a new file; this one was left as it was."
        )
    return version


def check_not_newer(conn: Connection, path: Path) -> None:
    """Checks in a transaction that no newer HotMem has migrated the file meanwhile.

    Raises:
        StoreTooNew: If one has.
    """
    version = conn.scalar("PRAGMA user_version")
    if version > len(STEPS):
        raise StoreTooNew(
            f"{path} has schema {version}, this HotMem knows up to {len(STEPS)}. Update HotMem:"
            " pip install -U pipecat-hotmem."
        )


def _lacking_columns(conn: Connection) -> list[str]:
    """Columns of today's schema that a file lacks."""
    sql = "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c"
    found = set(conn.execute(sql).fetchall())
    return [
        f"{table.name}.{column.name}"
        for table in TABLES.values()
        for column in table.columns
        if (table.name, column.name) not in found
    ]


def turns(
    path: Path, user_id: str, most: int, key: EncryptionKey | None = None
) -> tuple[list[Turn], int, Weights]:
    """The user's latest turns in order, the number of all, and the layer weights. Blocking.

    Args:
        path: The file; others may write to it meanwhile.
        user_id: The user's id; an unknown user has no turns.
        most: Turns at most.
        key: Key of the file.

    Raises:
        StoreError: If the file cannot be used, or has an older schema.
    """
    with mapped_errors(path), closing(connect(path, key=key, read_only=True)) as conn:
        conn.execute("BEGIN")
        version = checked_version(conn, path)
        if 0 < version < len(STEPS):
            raise StoreUnusable(
                f"{path} has schema {version}, and {len(STEPS)} is read. Open "
                "it once with this HotMem, as `hotmem stats` does."
            )
        user = users.find(conn, user_id) if version else None
        if user is None:
            return [], 0, START_WEIGHTS
        latest = [
            turn
            for _, turn in select(conn, "t.user_key = ? ORDER BY t.id DESC LIMIT ?", (user, most))
        ]
        count = conn.scalar("SELECT count(*) FROM turns WHERE user_key = ?", (user,))
        return latest[::-1], count, layer_weights.weights(conn, user)
