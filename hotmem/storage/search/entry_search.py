"""The primitives of search whose SQL is the same for every engine."""

from collections.abc import Sequence
from typing import Final

from hotmem.storage.database import Connection, Pending
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


class EntrySearch:
    """Implements the part of `hotmem.storage.database.SearchPrimitives` that engines share."""

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
