"""The search index in SQLite: entries in a table, terms in FTS5."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.storage.database import Connection, Pending
from hotmem.storage.search.primitives import IndexPage
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

PAGE: Final = """
    SELECT group_concat(id), group_concat(session), group_concat(length),
        group_concat(bits IS NOT NULL, ''), CAST(group_concat(bits, '') AS BLOB)
    FROM (SELECT id, session, length, bits FROM {kind}_entries
          WHERE user_key = ? AND id > ? ORDER BY id LIMIT ?)"""
"""A page as one row of joined values: creating a Python row for each entry takes five times as
long, most of it with the interpreter's lock held."""

POSTINGS: Final = """
    SELECT group_concat(rowid) FROM (
        SELECT rowid FROM {kind}_words WHERE {kind}_words MATCH ? AND rowid > ? ORDER BY rowid)"""


class SqliteSearch:
    """Implements `hotmem.storage.database.SearchPrimitives`."""

    def index_state(
        self, conn: Connection, user: UserKey, kind: EvidenceKind, waiting: int, latest: int
    ) -> Pending[IndexState]:
        """The state of a user's index."""
        values = {"user": user, "kind": kind, "waiting": waiting, "latest": latest}
        rows = conn.execute(STATE.format(kind=kind), values)
        return lambda: IndexState.of(rows.fetchone())

    def index_page(
        self, conn: Connection, user: UserKey, kind: EvidenceKind, after: int, limit: int
    ) -> IndexPage:
        """The user's next entries after a row number."""
        keys, sessions, lengths, embedded, bits = conn.execute(
            PAGE.format(kind=kind), (user, after, limit)
        ).fetchone()
        return IndexPage(
            _numbers(keys),
            _numbers(sessions),
            _numbers(lengths),
            np.frombuffer((embedded or "").encode(), dtype=np.uint8) == ord("1"),
            bits or b"",
        )

    def postings(
        self, conn: Connection, user: UserKey, kind: EvidenceKind, terms: Mapping[str, int]
    ) -> Pending[dict[str, NDArray[np.int64]]]:
        """Row numbers of the user's rows that contain a term, ascending, for each term."""
        sql = POSTINGS.format(kind=kind)
        found = {
            term: _numbers(conn.execute(sql, (f'"{_token(user, term)}"', after)).fetchone()[0])
            for term, after in terms.items()
        }
        return lambda: found

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
                WHERE {column} IN (SELECT value FROM json_each(?)) AND +user_key = ?
                    AND vector IS NOT NULL""",
            (json.dumps(list(values)), user),
        ).fetchall

    def add_terms(
        self, conn: Connection, user: UserKey, kind: EvidenceKind, key: int, terms: Iterable[str]
    ) -> None:
        """Adds the terms of a row."""
        conn.execute(
            f"INSERT INTO {kind}_words (rowid, terms) VALUES (?, ?)",
            (key, " ".join(_token(user, term) for term in terms)),
        )

    def remove_terms(self, conn: Connection, user: UserKey, kind: EvidenceKind, key: int) -> None:
        """Removes the terms of a row."""
        conn.execute(f"DELETE FROM {kind}_words WHERE rowid = ?", (key,))

    def has_terms(self, conn: Connection, user: UserKey, kind: EvidenceKind, key: int) -> bool:
        """Whether the index has terms of a row."""
        sql = f"SELECT 1 FROM {kind}_words WHERE rowid = ?"
        return conn.execute(sql, (key,)).fetchone() is not None

    def clear_terms(self, conn: Connection, kind: EvidenceKind) -> None:
        """Removes the terms of all rows."""
        conn.execute(f"INSERT INTO {kind}_words ({kind}_words) VALUES ('delete-all')")

    def compact_terms(self, conn: Connection, kind: EvidenceKind) -> None:
        """Rewrites the index: rows of a contentless table do not tell which terms they held."""
        conn.execute(f"INSERT INTO {kind}_words ({kind}_words) VALUES ('optimize')")


def _token(user: UserKey, term: str) -> str:
    """A term in the index, which is the user's own: no search reads, or counts, another's rows."""
    return f"u{user}x{term}"


def _numbers(joined: str | None) -> NDArray[np.int64]:
    """Numbers joined with commas."""
    return np.fromstring(joined, dtype=np.int64, sep=",") if joined else np.empty(0, dtype=np.int64)
