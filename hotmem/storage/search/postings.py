"""Posting lists: the rows of one user that contain a term."""

from threading import Lock
from typing import Final

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from hotmem.storage.database import Connection
from hotmem.types import EvidenceKind

BYTES: Final = 64 * 2**20
"""Maximum size of the cached posting lists of a user in bytes."""


class Postings:
    """An LRU cache of posting lists of one user. Thread-safe.

    Args:
        kind: The kind of rows.
    """

    def __init__(self, kind: EvidenceKind) -> None:
        self._kind = kind
        self._lock = Lock()
        self._lists: LRUCache[str, tuple[NDArray[np.int32], int]] = LRUCache(
            BYTES, getsizeof=lambda cached: cached[0].nbytes
        )

    @property
    def nbytes(self) -> int:
        """Size of the cached posting lists in bytes."""
        return int(self._lists.currsize)

    def places(self, conn: Connection, keys: NDArray[np.int64], token: str) -> NDArray[np.int32]:
        """Indices in `keys` of the rows that contain a token, ascending, int32.

        Only rows added since the token was last looked up are read.

        Args:
            conn: A connection that sees all of the rows.
            keys: The user's row numbers, ascending; never fewer than in earlier calls.
            token: A term as stored in the index.
        """
        last = int(keys[-1]) if len(keys) else 0
        with self._lock:
            places, read_to = self._lists.pop(token, (np.empty(0, dtype=np.int32), 0))
            if read_to < last:
                places = np.concatenate([places, self._read(conn, keys, token, read_to)])
                read_to = last
            if places.nbytes <= BYTES:
                self._lists[token] = places, read_to
            return places[: np.searchsorted(places, len(keys))]

    def _read(
        self, conn: Connection, keys: NDArray[np.int64], token: str, after: int
    ) -> NDArray[np.int32]:
        (found,) = conn.execute(
            f"SELECT group_concat(rowid) FROM (SELECT rowid FROM {self._kind}_words WHERE {self._kind}_words MATCH ? AND rowid > ? ORDER BY rowid)",
            (f'"{token}"', after),
        ).fetchone()
        wanted = numbers(found or "")
        wanted = wanted[: np.searchsorted(wanted, keys[-1], side="right")]
        places = np.searchsorted(keys, wanted)
        return np.asarray(places[keys[places] == wanted], dtype=np.int32)


def numbers(joined: str) -> NDArray[np.int64]:
    """Numbers that SQLite joined with commas, which is much faster than a row for each."""
    return np.fromstring(joined, dtype=np.int64, sep=",") if joined else np.empty(0, dtype=np.int64)
