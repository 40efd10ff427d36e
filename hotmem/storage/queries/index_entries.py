"""What each row is found by.

Its terms in the full-text index, and its entry, a few bytes that every search of the user reads.

An entry holds the row's session, its length in words and, once it is embedded, the signs of its
vector. Entries are small and lie together by user, so that all of one user's come into memory in
one read (`hotmem.storage.search.user_index`).
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
"""Kinds with terms of their own; a session is found by those of its passages."""


def add(
    conn: Connection, kind: EvidenceKind, user: UserKey, key: int, session: int, text: str
) -> None:
    """Makes a new row findable by its words."""
    length = len(terms(text))
    conn.execute(
        f"INSERT INTO {kind}_entries (user_key, id, session, length) VALUES (?, ?, ?, ?)",
        (user, key, session, length),
    )
    if kind in WORDED:
        put_words(conn, kind, user, key, text)


def put_words(conn: Connection, kind: EvidenceKind, user: UserKey, key: int, text: str) -> None:
    """Adds the words of a row of a kind that has words to the index."""
    conn.search.add_terms(conn, user, kind, key, terms(text))


def remove(conn: Connection, kind: EvidenceKind, user: UserKey, key: int) -> None:
    """Makes a row that stays impossible to find."""
    conn.execute(f"DELETE FROM {kind}_entries WHERE user_key = ? AND id = ?", (user, key))
    if kind in WORDED:
        conn.search.remove_terms(conn, kind, key)


def sign(
    conn: Connection, kind: EvidenceKind, user: UserKey, key: int, vector: NDArray[Any]
) -> None:
    """Makes a row findable by its meaning."""
    conn.execute(
        f"UPDATE {kind}_entries SET bits = ? WHERE user_key = ? AND id = ?",
        (to_bits(vector), user, key),
    )


def unsign(conn: Connection, kind: EvidenceKind, after: int, upto: int) -> None:
    """Takes the meaning of all rows above a row number and up to another away."""
    conn.execute(
        f"UPDATE {kind}_entries SET bits = NULL WHERE bits IS NOT NULL AND id > ? AND id <= ?",
        (after, upto),
    )


def to_bits(vector: NDArray[Any]) -> bytes:
    """The signs, one bit a dimension, eight to a byte, the first lowest."""
    return bytes(np.packbits(vector > 0, bitorder="little"))
