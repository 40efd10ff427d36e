"""Encrypts a database, decrypts it, or changes its key, by replacing it with a verified copy."""

import os
import stat
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import apsw

from hotmem.core.encryption_key import EncryptionKey
from hotmem.errors import StoreError, StoreLocked, StoreReadOnly
from hotmem.storage.sqlite import connection, files
from hotmem.storage.sqlite.connection import Connection, connect, mapped_errors
from hotmem.storage.sqlite.migrations import checked_version


def convert(path: Path, before: EncryptionKey | None, after: EncryptionKey | None) -> None:
    """Replaces a database with a copy that has another key. Blocking.

    The old file stays until the copy is complete.

    Args:
        path: The file, which must not be open.
        before: Its key; None if it is plain.
        after: The new key; None for a plain file.

    Raises:
        StoreLocked: If the file is open elsewhere.
        StoreKeyWrong: If `before` is not its key.
        StoreError: If it cannot be read or written.
    """
    files.check_path(path)
    path = path.resolve()
    if not files.writable(path) or not os.access(path.parent, os.W_OK):
        raise StoreReadOnly(f"{path} or its folder cannot be written. Make both writable.")
    making = path.with_name(f"{path.name}.making")
    try:
        with mapped_errors(path), closing(connect(path, key=before)) as conn:
            checked_version(conn, path)
            connection.check(conn, path)
            _leave_journal(conn, path)
            with closing(
                connect(path, key=before)
            ) as guard:  # blocks writers until the file is replaced
                if not connection.begun(guard):
                    raise _in_use(path)
                making.unlink(missing_ok=True)
                _write(conn, making, after)
                _check_same(conn, making, after)
                making.chmod(stat.S_IMODE(path.stat().st_mode))
                _flush(making)
                making.replace(path)
                if os.name == "posix":
                    _flush(path.parent)
                guard.execute("ROLLBACK")
    finally:
        making.unlink(missing_ok=True)


def _leave_journal(conn: Connection, path: Path) -> None:
    """Checkpoints and removes the journal; SQLite refuses while another connection is open."""
    conn.set_busy_timeout(0)
    try:
        mode = conn.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
    except apsw.BusyError as error:
        raise _in_use(path) from error
    if mode != "delete":
        raise _in_use(path)


def _write(conn: Connection, target: Path, key: EncryptionKey | None) -> None:
    os.close(files.created(target))
    address = (
        f"file:{quote(str(target))}?{connection.CIPHER}&{key.uri_parameter()}"
        if key
        else f"file:{quote(str(target))}?key="
    )
    conn.execute("VACUUM INTO ?", (address,))


def _check_same(conn: Connection, target: Path, key: EncryptionKey | None) -> None:
    with mapped_errors(target), closing(connect(target, key=key)) as made:
        connection.check(made, target)
        if _counts(made) != _counts(conn):
            raise StoreError(
                f"{target} does not match the original. The file is unchanged; try again."
            )


def _counts(conn: Connection) -> dict[str, int]:
    tables = [
        name
        for (name,) in conn.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table'"
        ).fetchall()
    ]
    return {name: conn.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables}


def _flush(path: Path) -> None:
    """Flushes a file, or the entries of a folder, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _in_use(path: Path) -> StoreLocked:
    return StoreLocked(
        f"{path} is open in another program, or twice in this one. Nothing was changed; "
        "close it there and try again."
    )
