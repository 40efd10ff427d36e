"""The indexes in memory, of the users asked about last."""

from collections import OrderedDict
from threading import Lock
from typing import Final

from hotmem.store.index import Index
from hotmem.types import EvidenceKind, UserKey

BYTES: Final = 256 * 2**20
"""Bytes of all indexes together, but for the one asked for last; a million turns of one user take some 100 MB, a thousand 0.1 MB."""


class Shelf:
    """Indexes by kind and user; the one not asked for longest is dropped first. Thread-safe."""

    def __init__(self) -> None:
        self._indexes: OrderedDict[tuple[EvidenceKind, UserKey], Index] = OrderedDict()
        self._lock = Lock()

    def index(self, kind: EvidenceKind, user: UserKey) -> Index:
        """The user's index of a kind, empty if it has to be read first."""
        with self._lock:
            index = self._indexes.setdefault((kind, user), Index(kind, user))
            self._indexes.move_to_end((kind, user))
            total = sum(held.nbytes for held in self._indexes.values())
            while total > BYTES and len(self._indexes) > 1:
                total -= self._indexes.popitem(last=False)[1].nbytes
            return index

    def drop(self, user: UserKey) -> None:
        """Drops all indexes of a user."""
        with self._lock:
            for kind in EvidenceKind:
                self._indexes.pop((kind, user), None)
