"""The indexes in memory, of the users asked about last."""

from collections import OrderedDict
from threading import Lock
from typing import Final, TypeAlias

from hotmem.storage.search.user_index import Index
from hotmem.types import EvidenceKind, UserKey

Place: TypeAlias = tuple[EvidenceKind, UserKey]

BYTES: Final = 256 * 2**20
"""Bytes of all indexes together, but for the one asked for last; a million turns of one user
take some 100 MB, a thousand 0.1 MB."""


class IndexCache:
    """Indexes by kind and user; the one not asked for longest is dropped first. Thread-safe."""

    def __init__(self) -> None:
        self._indexes: OrderedDict[Place, Index] = OrderedDict()
        self._sizes: dict[Place, int] = {}
        self._bytes = 0
        self._lock = Lock()

    def index(self, kind: EvidenceKind, user: UserKey) -> Index:
        """The user's index of a kind, empty if it has to be read first.

        What it has grown by counts when it is asked for again.
        """
        place = kind, user
        with self._lock:
            index = self._indexes.get(place) or Index(kind, user)
            self._indexes[place] = index
            self._indexes.move_to_end(place)
            self._weigh(place, index.nbytes)
            while self._bytes > BYTES and len(self._indexes) > 1:
                self._weigh(self._indexes.popitem(last=False)[0], 0)
            return index

    def drop(self, user: UserKey) -> None:
        """Drops all indexes of a user."""
        with self._lock:
            for kind in EvidenceKind:
                if self._indexes.pop((kind, user), None) is not None:
                    self._weigh((kind, user), 0)

    def _weigh(self, place: Place, size: int) -> None:
        self._bytes += size - self._sizes.pop(place, 0)
        if size:
            self._sizes[place] = size
