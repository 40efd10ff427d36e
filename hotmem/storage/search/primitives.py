"""What search needs of a storage engine: index state, index page, postings and vectors.

Ranking, from BM25 to late interaction, is the same Python code for every engine, so that all of
them give the same blocks.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hotmem.types import EvidenceKind, UserKey

if TYPE_CHECKING:
    from hotmem.storage.database import Connection


class IndexState(NamedTuple):
    """What decides whether a loaded index is current.

    Attributes:
        last: Row number of the last entry; 0 if there is none.
        revision: Number of changes other than new entries.
        waiting_embedded: Whether the entry asked about as the first without a vector has one now.
        latest_embedded: The same of the last entry without a vector.
        boundary: Row number up to which vectors are of the former encoder; 0 if none are.
    """

    last: int
    revision: int
    waiting_embedded: bool
    latest_embedded: bool
    boundary: int


class IndexPage(NamedTuple):
    """Consecutive index entries of a user, by row number.

    Attributes:
        keys: Row numbers, int64 (entries,).
        sessions: Their sessions, int64 (entries,).
        lengths: Their lengths in words, int64 (entries,).
        embedded: Whether they have a vector, bool (entries,).
        bits: Signs of the vectors of those that have one, one bit a dimension, joined.
    """

    keys: NDArray[np.int64]
    sessions: NDArray[np.int64]
    lengths: NDArray[np.int64]
    embedded: NDArray[np.bool_]
    bits: bytes


class SearchPrimitives(Protocol):
    """The search index of an engine. Every method takes the connection of the transaction."""

    def index_state(
        self, conn: "Connection", user: UserKey, kind: EvidenceKind, waiting: int, latest: int
    ) -> IndexState:
        """The state of a user's index.

        Args:
            conn: A connection.
            user: The user.
            kind: The index.
            waiting: Row number of the first entry known to have no vector; 0 for none.
            latest: The same of the last entry.
        """
        ...

    def index_page(
        self, conn: "Connection", user: UserKey, kind: EvidenceKind, after: int, limit: int
    ) -> IndexPage:
        """The user's next entries after a row number."""
        ...

    def postings(
        self, conn: "Connection", user: UserKey, kind: EvidenceKind, term: str, after: int
    ) -> NDArray[np.int64]:
        """Row numbers above `after` of the user's rows that contain a term, ascending."""
        ...

    def vectors(
        self,
        conn: "Connection",
        user: UserKey,
        kind: EvidenceKind,
        column: str,
        values: Sequence[int],
    ) -> list[tuple[int, bytes]]:
        """Row numbers and stored vectors of the user's embedded rows with these column values."""
        ...

    def add_terms(
        self, conn: "Connection", user: UserKey, kind: EvidenceKind, key: int, terms: Iterable[str]
    ) -> None:
        """Adds the terms of a row."""
        ...

    def remove_terms(self, conn: "Connection", kind: EvidenceKind, key: int) -> None:
        """Removes the terms of a row."""
        ...

    def has_terms(self, conn: "Connection", kind: EvidenceKind, key: int) -> bool:
        """Whether the index has terms of a row."""
        ...

    def clear_terms(self, conn: "Connection", kind: EvidenceKind) -> None:
        """Removes the terms of all rows."""
        ...

    def compact_terms(self, conn: "Connection", kind: EvidenceKind) -> None:
        """Rewrites the index, so that no term of a removed row is left in it."""
        ...
