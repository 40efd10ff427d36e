"""The write-ahead log beside a SQLite file: removes deleted content from it."""

import time
from math import inf
from pathlib import Path
from threading import Event
from typing import Final

from hotmem.storage.sqlite import connection
from hotmem.storage.sqlite.connection import Connection, mapped_errors

PURGE_WAIT_S: Final = 0.02
"""Seconds that one attempt waits for reads to end; our own writes wait as long."""

PURGE_PAUSE_S: Final = 0.03
"""Seconds between two attempts, in which writes and reads go on."""

RETRY_EVERY_S: Final = 1.0
"""Seconds between two attempts of the background worker."""


class Journal:
    """Whether the log still holds deleted content. Thread-safe.

    Args:
        path: The database file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._marked = Event()
        self._tried_at = -inf

    @property
    def marked(self) -> bool:
        """Whether the log has to be truncated."""
        return self._marked.is_set()

    @property
    def retry_due(self) -> bool:
        """Whether it has to be truncated and the last attempt was long enough ago."""
        return self.marked and time.monotonic() - self._tried_at > RETRY_EVERY_S

    def mark(self) -> None:
        """Marks the log as one that has to be truncated."""
        self._marked.set()

    def purge(self, writer: Connection) -> bool:
        """Tries to truncate the log; False if a reader prevents it. Blocking.

        Raises:
            StoreError: If the file cannot be written.
        """
        self._tried_at = time.monotonic()
        truncated = truncate(writer, self._path, PURGE_WAIT_S)
        if truncated:
            self._marked.clear()
        return truncated


def truncate(writer: Connection, path: Path, wait_s: float) -> bool:
    """Copies the log into the file and truncates it; False if a reader prevents it. Blocking.

    Args:
        writer: A connection that can write.
        path: The file, for errors.
        wait_s: Seconds to wait for readers.

    Raises:
        StoreError: If the file cannot be written.
    """
    with mapped_errors(path):
        writer.execute(f"PRAGMA busy_timeout = {wait_s * 1000:.0f}")
        try:
            return bool(writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)
        finally:
            writer.execute(f"PRAGMA busy_timeout = {connection.LOCK_WAIT_S * 1000:.0f}")
