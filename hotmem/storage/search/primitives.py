"""What search needs of an engine's index.

Ranking, from BM25 to late interaction, is the same Python code for every engine, so that all of
them give the same blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hotmem.types import EvidenceKind, UserKey
from hotmem.types.recall import IndexState

if TYPE_CHECKING:
    from hotmem.storage.database import Connection, Pending


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
    """What search needs of an engine: index state, index page, postings and vectors.

    Ranking, from BM25 to late interaction, is the same Python code for every engine, so that all of
    them give the same blocks. Every method takes the connection of the transaction.

    Attributes:
        language: The language whose rules stem the words of the index, by its ISO 639-1 code. Words
            that are searched for must be stemmed by the same.
    """

    language: str

    def index_state(
        self, conn: Connection, user: UserKey, kind: EvidenceKind, waiting: int, latest: int
    ) -> Pending[IndexState]:
        """The state of a user's index.

        Args:
            conn: A connection.
            user: The user.
            kind: The index.
            waiting: Row number of the first entry known to have no vector; 0 for none.
            latest: The same of the last entry.
        """

    def index_page(
        self, conn: Connection, user: UserKey, kind: EvidenceKind, after: int, limit: int
    ) -> Pending[IndexPage]:
        """The user's next entries after a row number."""

    def postings(
        self, conn: Connection, user: UserKey, kind: EvidenceKind, terms: Mapping[str, int]
    ) -> Pending[dict[str, NDArray[np.int64]]]:
        """Row numbers of the user's rows that contain a term, ascending, for each term.

        Args:
            conn: A connection.
            user: The user.
            kind: The index.
            terms: For each term the row number above which rows are returned.
        """

    def vectors(
        self,
        conn: Connection,
        user: UserKey,
        kind: EvidenceKind,
        column: str,
        values: Sequence[int],
    ) -> Pending[list[tuple[int, bytes]]]:
        """Row numbers and stored vectors of the user's embedded rows with these column values."""

    def add_terms(
        self, conn: Connection, user: UserKey, kind: EvidenceKind, key: int, terms: Iterable[str]
    ) -> None:
        """Adds the terms of a row."""

    def add_all_terms(
        self, conn: Connection, kind: EvidenceKind, rows: Sequence[tuple[UserKey, int, list[str]]]
    ) -> None:
        """Adds the terms of many rows: their users, row numbers and terms, by user and number."""

    def remove_terms(self, conn: Connection, user: UserKey, kind: EvidenceKind, key: int) -> None:
        """Removes the terms of a row."""

    def has_terms(self, conn: Connection, user: UserKey, kind: EvidenceKind, key: int) -> bool:
        """Whether the index has terms of a row."""

    def clear_terms(self, conn: Connection, kind: EvidenceKind) -> None:
        """Removes the terms of all rows."""

    def compact_terms(self, conn: Connection, kind: EvidenceKind) -> None:
        """Rewrites the index, so that no term of a removed row is left in it."""
