"""What search needs of an engine's index.

Ranking, from BM25 to late interaction, is the same Python code for every engine, so that all of
them give the same blocks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hotmem.text.languages import ENGLISH
from hotmem.types import EvidenceKind, UserKey
from hotmem.types.recall import IndexState

if TYPE_CHECKING:
    from hotmem.storage.database import Connection, Pending

STATE: Final = """
    SELECT coalesce((SELECT max(id) FROM {kind}_entries WHERE user_key = :user), 0),
        coalesce((SELECT number FROM index_revisions WHERE user_key = :user AND kind = :kind), 0),
        (SELECT bits IS NOT NULL FROM {kind}_entries WHERE user_key = :user AND id = :waiting),
        (SELECT bits IS NOT NULL FROM {kind}_entries WHERE user_key = :user AND id = :latest),
        coalesce((SELECT upto FROM former_vectors WHERE kind = :kind), 0)"""


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


class SearchPrimitives(ABC):
    """What search needs of an engine: index state, index page and postings.

    Ranking, from BM25 to late interaction, is the same Python code for every engine, so that all of
    them give the same blocks. Every method takes the connection of the transaction.

    Attributes:
        language: The language whose rules stem the words of the index, by its ISO 639-1 code. Words
            that are searched for must be stemmed by the same.
        page: The statement for a page: row numbers, sessions, lengths, "1" for each entry with a
            vector and else "0", and the bits, each joined.
        words_key: The column of the row number in the full-text index.
    """

    page: ClassVar[str]
    words_key: ClassVar[str]

    def __init__(self, language: str = ENGLISH) -> None:
        self.language = language

    @abstractmethod
    def numbers(self, joined: Any) -> NDArray[np.int64]:  # noqa: ANN401 - as the engine joins them
        """The numbers of a joined column."""

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
        values = {"user": user, "kind": kind, "waiting": waiting, "latest": latest}
        rows = conn.execute(STATE.format(kind=kind), values)
        return lambda: IndexState.of(rows.fetchone())

    def index_page(
        self, conn: Connection, user: UserKey, kind: EvidenceKind, after: int, limit: int
    ) -> Pending[IndexPage]:
        """The user's next entries after a row number."""
        rows = conn.execute(self.page.format(kind=kind), (user, after, limit))

        def found() -> IndexPage:
            keys, sessions, lengths, embedded, bits = rows.fetchone()
            return IndexPage(
                self.numbers(keys),
                self.numbers(sessions),
                self.numbers(lengths),
                np.frombuffer((embedded or "").encode(), dtype=np.uint8) == ord("1"),
                bits or b"",
            )

        return found

    @abstractmethod
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

    @abstractmethod
    def add_terms(
        self, conn: Connection, kind: EvidenceKind, rows: Sequence[tuple[UserKey, int, list[str]]]
    ) -> None:
        """Adds the terms of rows: their users, row numbers and terms, by user and number."""

    @abstractmethod
    def remove_terms(self, conn: Connection, user: UserKey, kind: EvidenceKind, key: int) -> None:
        """Removes the terms of a row."""

    @abstractmethod
    def has_terms(self, conn: Connection, user: UserKey, kind: EvidenceKind, key: int) -> bool:
        """Whether the index has terms of a row."""

    def worded(self, conn: Connection, kind: EvidenceKind) -> set[int]:
        """Row numbers of all rows whose terms are in the index."""
        return set(conn.column(f"SELECT {self.words_key} FROM {kind}_words"))

    @abstractmethod
    def clear_terms(self, conn: Connection, kind: EvidenceKind) -> None:
        """Removes the terms of all rows."""

    @abstractmethod
    def compact_terms(self, conn: Connection, kind: EvidenceKind) -> None:
        """Rewrites the index, so that no term of a removed row is left in it."""
