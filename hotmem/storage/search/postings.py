"""Posting lists: the rows of one user that contain a term."""

from threading import Lock
from typing import Final

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from hotmem.storage.database import Connection
from hotmem.types import EvidenceKind, UserKey

BYTES: Final = 64 * 2**20
"""Maximum size of the cached posting lists of a user in bytes."""


class Postings:
    """An LRU cache of posting lists of one user. Thread-safe.

    Args:
        kind: The kind of rows.
        user: The user.
    """

    def __init__(self, kind: EvidenceKind, user: UserKey) -> None:
        self._kind = kind
        self._user = user
        self._lock = Lock()
        self._lists: LRUCache[str, tuple[NDArray[np.int32], int]] = LRUCache(
            BYTES, getsizeof=lambda cached: cached[0].nbytes
        )

    @property
    def nbytes(self) -> int:
        """Size of the cached posting lists in bytes."""
        return int(self._lists.currsize)

    def places(self, conn: Connection, keys: NDArray[np.int64], term: str) -> NDArray[np.int32]:
        """Indices in `keys` of the rows that contain a term, ascending, int32.

        Only rows added since the term was last looked up are read.

        Args:
            conn: A connection that sees all of the rows.
            keys: The user's row numbers, ascending; never fewer than in earlier calls.
            term: A stemmed term.
        """
        last = int(keys[-1]) if len(keys) else 0
        with self._lock:
            places, read_to = self._lists.pop(term, (np.empty(0, dtype=np.int32), 0))
            if read_to < last:
                places = np.concatenate([places, self._read(conn, keys, term, read_to)])
                read_to = last
            if places.nbytes <= BYTES:
                self._lists[term] = places, read_to
            return places[: np.searchsorted(places, len(keys))]

    def _read(
        self, conn: Connection, keys: NDArray[np.int64], term: str, after: int
    ) -> NDArray[np.int32]:
        wanted = conn.search.postings(conn, self._user, self._kind, term, after)
        wanted = wanted[: np.searchsorted(wanted, keys[-1], side="right")]
        places = np.searchsorted(keys, wanted)
        return np.asarray(places[keys[places] == wanted], dtype=np.int32)
