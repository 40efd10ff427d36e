"""An LRU cache of users' in-memory indexes."""

from threading import Lock
from typing import Final, TypeAlias

from cachetools import LRUCache

from hotmem.storage.search.user_index import Index
from hotmem.types import EvidenceKind, UserKey

IndexKey: TypeAlias = tuple[EvidenceKind, UserKey]

BYTES: Final = 256 * 2**20
"""Maximum size of all indexes in bytes; a single larger index is cached alone."""


class IndexCache:
    """An LRU cache of indexes by kind and user. Thread-safe."""

    def __init__(self) -> None:
        self._indexes: LRUCache[IndexKey, Index] = LRUCache(
            BYTES, getsizeof=lambda index: min(max(index.nbytes, 1), BYTES)
        )
        self._lock = Lock()

    def index(self, kind: EvidenceKind, user: UserKey) -> Index:
        """Return a user's index of a kind; a new one is empty until it is read."""
        key = kind, user
        with self._lock:
            # An index grows after it is cached, so each access measures its size again.
            index = self._indexes.pop(key, None) or Index(kind, user)
            self._indexes[key] = index
            return index

    def drop(self, user: UserKey) -> None:
        """Remove all indexes of a user."""
        with self._lock:
            for kind in EvidenceKind:
                self._indexes.pop((kind, user), None)
