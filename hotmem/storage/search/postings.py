"""Posting lists: the rows of one user that contain a term."""

from collections.abc import Callable, Collection, Mapping
from threading import Lock
from typing import Final, NamedTuple

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from hotmem.storage.database import Connection, Pending
from hotmem.types import EvidenceKind, UserKey

BYTES: Final = 64 * 2**20
"""Maximum size of the cached posting lists of a user in bytes."""


UNREAD: Final[tuple[NDArray[np.int32], int]] = (np.empty(0, dtype=np.int32), 0)
"""The posting list of a term that was not looked up yet, and the row number it is read up to."""


class Ahead(NamedTuple):
    """Posting lists that were read before it is known that they are needed.

    Attributes:
        last: The last row number that they cover.
        after: For each term the row number above which its rows were read.
        rows: Row numbers for each term.
    """

    last: int
    after: Mapping[str, int]
    rows: Mapping[str, NDArray[np.int64]]

    def rows_of(self, terms: Collection[str]) -> Pending[dict[str, NDArray[np.int64]]]:
        """The row numbers of some of the terms."""
        found = {term: self.rows[term] for term in terms}
        return lambda: found


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
        self._ahead: Ahead | None = None
        self._lists: LRUCache[str, tuple[NDArray[np.int32], int]] = LRUCache(
            BYTES, getsizeof=lambda cached: cached[0].nbytes
        )

    @property
    def nbytes(self) -> int:
        """Size of the cached posting lists in bytes."""
        return int(self._lists.currsize)

    def read_ahead(self, conn: Connection, terms: Collection[str]) -> Callable[[int], None]:
        """Reads what `places` will need of these terms.

        Returns:
            Waits for the result and keeps it until the next search; takes the last row number that
            the connection sees.
        """
        with self._lock:
            after = {term: self._lists.get(term, UNREAD)[1] for term in terms}
        rows = conn.search.postings(conn, self._user, self._kind, after)

        def found(last: int) -> None:
            ahead = Ahead(last, after, rows())
            with self._lock:
                self._ahead = ahead

        return found

    def places(
        self, conn: Connection, keys: NDArray[np.int64], terms: Collection[str]
    ) -> Pending[dict[str, NDArray[np.int32]]]:
        """For each term the indices in `keys` of the rows that contain it, ascending, int32.

        Only rows added since the term was last looked up are read.

        Args:
            conn: A connection that sees all of the rows.
            keys: The user's row numbers, ascending; never fewer than in earlier calls.
            terms: Stemmed terms.
        """
        last = int(keys[-1]) if len(keys) else 0
        with self._lock:
            known = {term: self._lists.get(term, UNREAD) for term in terms}
            ahead = self._ahead
        behind = {term: read_to for term, (_, read_to) in known.items() if read_to < last}
        if ahead is not None and last <= ahead.last and behind.items() <= ahead.after.items():
            added = ahead.rows_of(behind)
        else:
            added = conn.search.postings(conn, self._user, self._kind, behind)

        def found() -> dict[str, NDArray[np.int32]]:
            for term, wanted in added().items():
                places = np.concatenate([known[term][0], _places(keys, wanted)])
                known[term] = places, last
                if places.nbytes <= BYTES:
                    with self._lock:
                        self._lists[term] = places, last
            return {
                term: places[: np.searchsorted(places, len(keys))]
                for term, (places, _) in known.items()
            }

        return found


def _places(keys: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int32]:
    """Indices in `keys` of those of the wanted row numbers that are in it."""
    wanted = wanted[: np.searchsorted(wanted, keys[-1], side="right")]
    places = np.searchsorted(keys, wanted)
    return np.asarray(places[keys[places] == wanted], dtype=np.int32)
