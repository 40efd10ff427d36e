"""One user's index entries of one kind, cached in memory.

A cache of the database, not a source of truth: a search returns candidates, which are then looked
up in the user's own rows. New entries are read from the last cached one on; after any other change
(`revisions`) all are read again.
"""

from collections.abc import Collection
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, TypeAlias

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from hotmem.storage.database import Connection, Pending
from hotmem.storage.search.postings import Postings
from hotmem.storage.search.primitives import IndexPage
from hotmem.types import EvidenceKind, UserKey
from hotmem.types.recall import IndexState

PAGE_SIZE: Final = 4096
"""Entries read by one statement."""

AHEAD: Final = 64
"""Entries that may be read ahead, with the state of the index."""

MIN_CAPACITY: Final = 64

WORD: Final = np.dtype("<u8")
"""Signs of 64 dimensions."""


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """The entries as one search sees them.

    Attributes:
        keys: Row numbers, ascending, int64 (entries,).
        lengths: Words, float32 (entries,).
        places: Each entry's session as a place in `sessions`, int32 (entries,).
        bits: Signs of the vectors, eight bytes to a word, uint64 (words, entries); 0 where there is
            no vector yet.
        sessions: Row numbers of sessions, int64 (sessions,).
        session_lengths: Words of each session, float64 (sessions,).
        postings: Postings of the terms of earlier searches.
        boundary: Row number up to which vectors are of the previous encoder; 0 if none are.
    """

    keys: NDArray[np.int64]
    lengths: NDArray[np.float32]
    places: NDArray[np.int32]
    bits: NDArray[np.uint64]
    sessions: NDArray[np.int64]
    session_lengths: NDArray[np.float64]
    postings: Postings
    boundary: int


@dataclass(frozen=True, slots=True, eq=False)
class Ahead:
    """What was read together with a state of the index.

    Attributes:
        state: The state.
        after: Row number above which the page begins.
        page: The next entries, `AHEAD` at most.
    """

    state: IndexState
    after: int
    page: IndexPage


class Index:
    """The entries, and the postings of the terms of earlier searches. Thread-safe.

    Args:
        kind: Kind of the entries.
        user: The user who owns the entries.
    """

    def __init__(self, kind: EvidenceKind, user: UserKey) -> None:
        self.kind = kind
        self.user = user
        self.loaded = False
        self._lock = Lock()
        self._revision = 0
        self._boundary = 0
        self._ahead: Ahead | None = None
        self._empty()

    @property
    def nbytes(self) -> int:
        """Bytes it takes."""
        return (
            self._keys.nbytes
            + self._lengths.nbytes
            + self._places.nbytes
            + self._bits.nbytes
            + self._postings.nbytes
        )

    def state(self, conn: Connection) -> Pending[IndexState]:
        """The state of the stored index, by which `read` knows what has changed."""
        with self._lock:
            waiting = int(self._keys[self._settled]) if self._settled < self._count else 0
            latest = int(self._keys[self._count - 1]) if self._signed < self._count else 0
        return conn.search.index_state(conn, self.user, self.kind, waiting, latest)

    def state_and_more(self, conn: Connection, terms: Collection[str]) -> Pending[IndexState]:
        """The state, and what the next search will probably read, in one round trip.

        Args:
            conn: A connection.
            terms: Stemmed terms that will probably be searched for.
        """
        state = self.state(conn)
        with self._lock:
            after = int(self._keys[self._settled - 1]) if self._settled else 0
            near, postings = self._count - self._settled < AHEAD, self._postings
        page = conn.search.index_page(conn, self.user, self.kind, after, AHEAD) if near else None
        rows = postings.read_ahead(conn, terms)

        def found() -> IndexState:
            read = state()
            rows(read.last)
            if page is not None:
                ahead = Ahead(read, after, page())
                with self._lock:
                    self._ahead = ahead
            return read

        return found

    def read(self, conn: Connection, state: IndexState | None = None) -> Entries:
        """The entries that the connection sees; those that are cached are not read again.

        Args:
            conn: A connection.
            state: The state of the stored index, read a moment ago; None reads it now.
        """
        last, revision, signed, late, boundary = state or self.state(conn)()
        with self._lock:
            if revision > self._revision:
                self._revision = revision
                self._empty()
            elif boundary < self._boundary:
                self._read_anew(conn, boundary, self._boundary)
            self._boundary = boundary
            if revision == self._revision and (
                signed or late or last > (self._keys[self._count - 1] if self._count else 0)
            ):
                start = max(self._settled, self._count - PAGE_SIZE) if late else self._count
                self._read_behind(conn, self._settled if signed else start, state)
            self.loaded = True
            n = int(np.searchsorted(self._keys[: self._count], last, side="right"))
            sessions = len(self._place_of)
            return Entries(
                self._keys[:n],
                self._lengths[:n],
                self._places[:n],
                self._bits[:, :n],
                self._sessions[:sessions],
                self._session_lengths[:sessions],
                self._postings,
                boundary,
            )

    def _empty(self) -> None:
        self._count = self._settled = self._signed = 0
        self._keys = np.empty(0, dtype=np.int64)
        self._lengths = np.empty(0, dtype=np.float32)
        self._places = np.empty(0, dtype=np.int32)
        self._bits = np.empty((0, 0), dtype=WORD)
        self._place_of: dict[int, int] = {}
        self._sessions = np.empty(0, dtype=np.int64)
        self._session_lengths = np.empty(0, dtype=np.float64)
        self._postings = Postings(self.kind, self.user)

    def _read_behind(self, conn: Connection, place: int, state: IndexState | None) -> None:
        """Reads the entries from this place on.

        Cached entries may have been embedded since; their vectors are added in row order.
        """
        after = int(self._keys[self._settled - 1]) if self._settled else 0
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead.state is state and ahead.after == after:
            place = self._take(self._settled, ahead.page)
            if len(ahead.page.keys) < AHEAD:
                return
        while True:
            after = int(self._keys[place - 1]) if place else 0
            page = conn.search.index_page(conn, self.user, self.kind, after, PAGE_SIZE)()
            place = self._take(place, page)
            if len(page.keys) < PAGE_SIZE:
                return

    def _take(self, place: int, page: IndexPage) -> int:
        """Adds the entries of a page that begins at this place; returns where to read on."""
        known, read = self._count - place, len(page.keys)
        self._append(page.keys[known:], page.sessions[known:], page.lengths[known:])
        self._sign(place, page.embedded, page.bits)
        return self._count if known >= read and not page.embedded.any() else place + read

    def _read_anew(self, conn: Connection, low: int, high: int) -> None:
        """Reads the signs of re-embedded entries above one row number and up to another."""
        places = np.searchsorted(self._keys[: self._count], (low, high), side="right")
        first, stop = places.tolist()
        for place in range(first, stop, PAGE_SIZE):
            after, count = int(self._keys[place]) - 1, min(PAGE_SIZE, stop - place)
            page = conn.search.index_page(conn, self.user, self.kind, after, count)()
            self._sign(place, page.embedded, page.bits)

    def _append(
        self, keys: NDArray[np.int64], sessions: NDArray[np.int64], lengths: NDArray[np.int64]
    ) -> None:
        start, stop = self._count, self._count + len(keys)
        distinct, which = np.unique(sessions, return_inverse=True)
        found = np.array(
            [
                self._place_of.setdefault(session, len(self._place_of))
                for session in distinct.tolist()
            ],
            dtype=np.int32,
        )
        self._keys, self._lengths, self._places, self._bits = (
            _with_capacity(values, stop)
            for values in (self._keys, self._lengths, self._places, self._bits)
        )
        self._sessions, self._session_lengths = (
            _with_capacity(values, len(self._place_of))
            for values in (self._sessions, self._session_lengths)
        )
        self._keys[start:stop] = keys
        self._lengths[start:stop] = lengths
        self._places[start:stop] = found[which]
        self._sessions[found] = distinct
        self._session_lengths[found] += np.bincount(which, lengths, minlength=len(distinct))
        self._count = stop

    def _sign(self, first: int, signed: NDArray[np.bool_], bits: bytes | None) -> None:
        """Sets the signs of the entries from index `first` on, and how far they are complete."""
        if bits:
            rows = np.frombuffer(bits, dtype=np.uint8).reshape(int(signed.sum()), -1)
            words = -(-rows.shape[1] // WORD.itemsize)
            if words != len(self._bits):
                self._bits = np.zeros((words, len(self._keys)), dtype=WORD)
            padded = np.pad(rows, ((0, 0), (0, words * WORD.itemsize - rows.shape[1])))
            places = first + np.flatnonzero(signed)
            self._bits[:, places] = padded.view(WORD).T
            self._signed = max(self._signed, int(places[-1]) + 1)
        if self._settled == first:
            self._settled += len(signed) if signed.all() else int(np.argmin(signed))


@dataclass(frozen=True, slots=True)
class IndexReader:
    """An index, and its state as of the beginning of a recall.

    Attributes:
        index: The index.
        state: Its state; None reads it when the entries are read.
    """

    index: Index
    state: IndexState | None = None

    @property
    def kind(self) -> EvidenceKind:
        """The kind of its rows."""
        return self.index.kind

    @property
    def user(self) -> UserKey:
        """The user."""
        return self.index.user

    def read(self, conn: Connection) -> Entries:
        """The entries."""
        return self.index.read(conn, self.state)


def _with_capacity(values: NDArray[Any], count: int) -> NDArray[Any]:
    """The values, reallocated if the last axis has no capacity for `count`."""
    if count <= values.shape[-1]:
        return values
    grown = np.zeros(
        (*values.shape[:-1], max(count + count // 4, MIN_CAPACITY)), dtype=values.dtype
    )
    grown[..., : values.shape[-1]] = values
    return grown


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
