"""Index entries: the terms of each row in the full-text index, and its entry in the user's index.

An entry holds the row's session, its length in words and, once it is embedded, the sign bits of its
vector. Entries are small and clustered by user, so that a user's index is read at once
(`hotmem.storage.search.user_index`).
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hotmem.storage.database import Connection
from hotmem.text.stemming import terms
from hotmem.types import EvidenceKind, UserKey

TABLES: Final = {
    EvidenceKind.PASSAGE: "passages",
    EvidenceKind.MEMORY: "memories",
    EvidenceKind.SUMMARY: "summaries",
}

WORDED: Final = (EvidenceKind.PASSAGE, EvidenceKind.MEMORY)
"""Kinds with terms of their own; a session is found by the terms of its passages."""

SIGNED: Final = (EvidenceKind.PASSAGE, EvidenceKind.MEMORY)
"""Kinds whose texts have token signs, one bit per dimension: 16 bytes a token, about 0.5 KB a
spoken turn."""


def add(
    conn: Connection, user: UserKey, kind: EvidenceKind, key: int, session: int, text: str
) -> None:
    """Adds a row to the full-text index and the user's index."""
    length = len(terms(text, conn.search.language))
    conn.execute(
        f"INSERT INTO {kind}_entries (user_key, id, session, length) VALUES (?, ?, ?, ?)",
        (user, key, session, length),
    )
    if kind in WORDED:
        put_words(conn, user, kind, key, text)


def put_words(conn: Connection, user: UserKey, kind: EvidenceKind, key: int, text: str) -> None:
    """Adds the terms of a row to the full-text index, if its kind has terms."""
    conn.search.add_terms(conn, kind, [(user, key, terms(text, conn.search.language))])


def remove(conn: Connection, user: UserKey, kind: EvidenceKind, key: int) -> None:
    """Removes a row from all indexes; the row itself stays."""
    conn.execute(f"DELETE FROM {kind}_entries WHERE user_key = ? AND id = ?", (user, key))
    if kind in WORDED:
        conn.search.remove_terms(conn, user, kind, key)


def sign(
    conn: Connection, user: UserKey, kind: EvidenceKind, key: int, vector: NDArray[Any]
) -> None:
    """Stores the sign bits of a row's vector in its index entry."""
    conn.execute(
        f"UPDATE {kind}_entries SET bits = ? WHERE user_key = ? AND id = ?",
        (to_bits(vector), user, key),
    )


def unsign(conn: Connection, kind: EvidenceKind, after: int, upto: int) -> None:
    """Removes the sign bits of the rows above one row number and up to another."""
    conn.execute(
        f"UPDATE {kind}_entries SET bits = NULL WHERE bits IS NOT NULL AND id > ? AND id <= ?",
        (after, upto),
    )


def to_bits(vector: NDArray[Any]) -> bytes:
    """The signs of a vector, one bit per dimension, eight to a byte, the first lowest."""
    return bytes(np.packbits(vector > 0, bitorder="little"))
