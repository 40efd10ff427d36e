"""The search index in PostgreSQL: entries in a table, terms as arrays of rows in blocks."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hotmem.storage.database import Connection, Pending
from hotmem.storage.search.primitives import SearchPrimitives
from hotmem.types import EvidenceKind, UserKey

BLOCK: Final = 256
"""Rows of a user in a block of the word index. A new row rewrites the last block of each of its
terms, 2 KB at most; a term is read with one array for each block that it occurs in."""

PAGE: Final = """
    SELECT string_agg(int8send(id), ''::bytea ORDER BY id),
        string_agg(int8send(session), ''::bytea ORDER BY id),
        string_agg(int8send(length), ''::bytea ORDER BY id),
        string_agg(CASE WHEN bits IS NULL THEN '0' ELSE '1' END, '' ORDER BY id),
        string_agg(bits, ''::bytea ORDER BY id)
    FROM (SELECT id, session, length, bits FROM {kind}_entries
          WHERE user_key = ? AND id > ? ORDER BY id LIMIT ?) AS page"""
"""A page as one row of joined values, which numpy reads at once."""

NUMBER: Final = np.dtype(">i8")
ELEMENT: Final = np.dtype([("bytes", ">i4"), ("number", ">i8")])
"""A number as `int8send` gives it, and as an element in what `array_send` gives after 20 bytes."""

POSTINGS: Final = """
    SELECT p.term, string_agg(substr(array_send(p.ids), 21), ''::bytea ORDER BY p.block)
    FROM unnest(CAST(? AS TEXT[]), CAST(? AS BIGINT[])) AS w (term, after)
        JOIN {kind}_postings p ON p.user_key = ? AND p.term = w.term AND p.last_id > w.after
    GROUP BY p.term"""

ADD_TERMS: Final = """
    WITH counted AS (
        INSERT INTO posting_counts AS c (user_key, kind, entries) VALUES (:user, :kind, :count)
        ON CONFLICT (user_key, kind) DO UPDATE SET entries = c.entries + excluded.entries
        RETURNING entries
    ), added AS (
        SELECT w.id, string_to_array(w.terms, ' ') AS terms,
            (c.entries - :count + w.place) / :block AS block
        FROM counted AS c, unnest(CAST(:keys AS BIGINT[]), CAST(:terms AS TEXT[]))
            WITH ORDINALITY AS w (id, terms, place)
    ), kept AS (
        INSERT INTO {kind}_words (id, user_key, block, terms)
        SELECT id, :user, block, terms FROM added
    )
    INSERT INTO {kind}_postings AS p (user_key, term, block, last_id, ids)
    SELECT :user, t.term, a.block, max(a.id), array_agg(a.id ORDER BY a.id)
    FROM added AS a, unnest(a.terms) AS t (term) GROUP BY t.term, a.block
    ON CONFLICT (user_key, term, block) DO UPDATE
    SET ids = p.ids || excluded.ids, last_id = greatest(p.last_id, excluded.last_id)"""


class PostgresSearch(SearchPrimitives):
    """Implements `hotmem.storage.search.primitives.SearchPrimitives`."""

    page = PAGE
    words_key = "id"

    def numbers(self, joined: Any) -> NDArray[np.int64]:  # noqa: ANN401 - as the engine joins them
        """Numbers of `int8send`, joined."""
        return np.frombuffer(joined or b"", NUMBER).astype(np.int64)

    def postings(
        self, conn: Connection, user: UserKey, kind: EvidenceKind, terms: Mapping[str, int]
    ) -> Pending[dict[str, NDArray[np.int64]]]:
        """Row numbers of the user's rows that contain a term, ascending, for each term."""
        if not terms:
            return dict
        values = ([*terms], [*terms.values()], user)
        rows = conn.execute(POSTINGS.format(kind=kind), values)

        def found() -> dict[str, NDArray[np.int64]]:
            joined = dict(rows.fetchall())
            return {
                term: _above(after, np.frombuffer(joined.get(term, b""), ELEMENT)["number"])
                for term, after in terms.items()
            }

        return found

    def add_terms(
        self, conn: Connection, kind: EvidenceKind, rows: Sequence[tuple[UserKey, int, list[str]]]
    ) -> None:
        """Adds the terms of rows: their users, row numbers and terms, by user and number."""
        for user, group in groupby(rows, key=lambda row: row[0]):
            of_user = {key: " ".join(sorted(set(terms))) for _, key, terms in group}
            values = {
                "user": user,
                "kind": kind,
                "count": len(of_user),
                "block": BLOCK,
                "keys": [*of_user],
                "terms": [*of_user.values()],
            }
            conn.execute(ADD_TERMS.format(kind=kind), values)

    def remove_terms(self, conn: Connection, user: UserKey, kind: EvidenceKind, key: int) -> None:
        """Removes the terms of a row."""
        conn.execute(f"DELETE FROM {kind}_words WHERE id = ? AND user_key = ?", (key, user))

    def has_terms(self, conn: Connection, user: UserKey, kind: EvidenceKind, key: int) -> bool:
        """Whether the index has terms of a row."""
        sql = f"SELECT 1 FROM {kind}_words WHERE id = ? AND user_key = ?"
        return conn.exists(sql, (key, user))

    def clear_terms(self, conn: Connection, kind: EvidenceKind) -> None:
        """Removes the terms of all rows."""
        conn.execute(f"DELETE FROM {kind}_postings")
        conn.execute(f"DELETE FROM {kind}_words")

    def compact_terms(self, conn: Connection, kind: EvidenceKind) -> None:
        """Does nothing: the terms of a deleted row are removed with it."""


def _above(after: int, keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The keys above one, ascending."""
    return np.sort(keys[keys > after].astype(np.int64))
