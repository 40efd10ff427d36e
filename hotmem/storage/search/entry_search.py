"""The primitives of search whose SQL is the same for every engine."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hotmem.storage.database import Connection, Pending
from hotmem.storage.search.primitives import IndexPage
from hotmem.text.languages import ENGLISH
from hotmem.types import EvidenceKind, UserKey
from hotmem.types.index_state import IndexState

TABLES: Final = {
    EvidenceKind.PASSAGE: "passages",
    EvidenceKind.MEMORY: "memories",
    EvidenceKind.SUMMARY: "summaries",
}

STATE: Final = """
    SELECT coalesce((SELECT max(id) FROM {kind}_entries WHERE user_key = :user), 0),
        coalesce((SELECT number FROM index_revisions WHERE user_key = :user AND kind = :kind), 0),
        (SELECT bits IS NOT NULL FROM {kind}_entries WHERE user_key = :user AND id = :waiting),
        (SELECT bits IS NOT NULL FROM {kind}_entries WHERE user_key = :user AND id = :latest),
        coalesce((SELECT upto FROM former_vectors WHERE kind = :kind), 0)"""


class EntrySearch(ABC):
    """Implements the part of `SearchPrimitives` that engines share.

    Attributes:
        language: The language whose rules stem the words of the index.
        page: The statement for a page: row numbers, sessions, lengths, "1" for each entry with a
            vector and else "0", and the bits, each joined.
    """

    language: str = ENGLISH
    page: str

    @abstractmethod
    def numbers(self, joined: Any) -> NDArray[np.int64]:  # noqa: ANN401 - as the engine joins them
        """The numbers of a joined column."""

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

    def index_state(
        self, conn: Connection, user: UserKey, kind: EvidenceKind, waiting: int, latest: int
    ) -> Pending[IndexState]:
        """The state of a user's index."""
        values = {"user": user, "kind": kind, "waiting": waiting, "latest": latest}
        rows = conn.execute(STATE.format(kind=kind), values)
        return lambda: IndexState.of(rows.fetchone())

    def vectors(
        self,
        conn: Connection,
        user: UserKey,
        kind: EvidenceKind,
        column: str,
        values: Sequence[int],
    ) -> Pending[list[tuple[int, bytes]]]:
        """Row numbers and stored vectors of the user's embedded rows with these column values."""
        # + keeps SQLite from reading all of the user's rows by another index
        return conn.execute(
            f"""SELECT id, vector FROM {TABLES[kind]}
                WHERE {column} = ANY(?) AND +user_key = ? AND vector IS NOT NULL""",
            (list(values), user),
        ).fetchall
