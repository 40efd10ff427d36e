"""The search index in SQLite: entries in a table, terms in FTS5."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hotmem.storage.database import Connection, Pending
from hotmem.storage.search.primitives import SearchPrimitives
from hotmem.types import EvidenceKind, UserKey

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


class SqliteSearch(SearchPrimitives):
    """Implements `hotmem.storage.search.primitives.SearchPrimitives`."""

    page = PAGE
    words_key = "rowid"

    def numbers(self, joined: Any) -> NDArray[np.int64]:  # noqa: ANN401 - as the engine joins them
        """Numbers joined with commas."""
        if not joined:
            return np.empty(0, dtype=np.int64)
        return np.fromstring(joined, dtype=np.int64, sep=",")

    def postings(
        self, conn: Connection, user: UserKey, kind: EvidenceKind, terms: Mapping[str, int]
    ) -> Pending[dict[str, NDArray[np.int64]]]:
        """Row numbers of the user's rows that contain a term, ascending, for each term."""
        sql = POSTINGS.format(kind=kind)
        found = {
            term: self.numbers(conn.scalar(sql, (f'"{_token(user, term)}"', after)))
            for term, after in terms.items()
        }
        return lambda: found

    def add_terms(
        self, conn: Connection, kind: EvidenceKind, rows: Sequence[tuple[UserKey, int, list[str]]]
    ) -> None:
        """Adds the terms of rows: their users, row numbers and terms."""
        conn.executemany(
            f"INSERT INTO {kind}_words (rowid, terms) VALUES (?, ?)",
            [(key, " ".join(_token(user, term) for term in terms)) for user, key, terms in rows],
        )

    def remove_terms(self, conn: Connection, user: UserKey, kind: EvidenceKind, key: int) -> None:
        """Removes the terms of a row."""
        conn.execute(f"DELETE FROM {kind}_words WHERE rowid = ?", (key,))

    def has_terms(self, conn: Connection, user: UserKey, kind: EvidenceKind, key: int) -> bool:
        """Whether the index has terms of a row."""
        sql = f"SELECT 1 FROM {kind}_words WHERE rowid = ?"
        return conn.exists(sql, (key,))

    def clear_terms(self, conn: Connection, kind: EvidenceKind) -> None:
        """Removes the terms of all rows."""
        conn.execute(f"INSERT INTO {kind}_words ({kind}_words) VALUES ('delete-all')")

    def compact_terms(self, conn: Connection, kind: EvidenceKind) -> None:
        """Rewrites the index: rows of a contentless table do not tell which terms they held."""
        conn.execute(f"INSERT INTO {kind}_words ({kind}_words) VALUES ('optimize')")


def _token(user: UserKey, term: str) -> str:
    """A term in the index, which is the user's own: no search reads, or counts, another's rows."""
    return f"u{user}x{term}"
