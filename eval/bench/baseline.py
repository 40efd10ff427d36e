"""The minimum cost of a search: query embedding, one sqlite-vec search and one FTS5 query."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import sqlite_vec

from eval.content_words import STOP_WORDS, words
from hotmem.models import Encoder
from hotmem.models.encoder import Vectors
from hotmem.storage.sqlite.connection import connect

NEAREST: Final = 50
"""Number of passages that each search returns."""


class BaselineSearch:
    """Passages in a separate file: a vec0 table with one bit per dimension, and an FTS5 table.

    Args:
        path: The file; created if missing.
        dimension: Dimension of the vectors.
    """

    def __init__(self, path: Path, dimension: int) -> None:
        self._conn = connect(path)
        self._conn.enable_load_extension(True)
        sqlite_vec.load(self._conn)
        self._conn.enable_load_extension(False)
        self._conn.execute("PRAGMA journal_mode = WAL")
        self._conn.execute("PRAGMA synchronous = OFF")
        self._conn.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS near USING vec0 (user_key INTEGER "
            f"PARTITION KEY, vector BIT[{dimension}])"
        )
        self._conn.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS word USING fts5 (user_key "
            "UNINDEXED, text, tokenize = 'porter unicode61')"
        )

    def add(
        self, keys: Sequence[int], owners: Sequence[int], texts: Sequence[str], rows: Vectors
    ) -> None:
        """Add passages: row ids, users, texts and their vectors, float32 (passages, dimension)."""
        bits = np.packbits(rows > 0, axis=1, bitorder="little")
        self._conn.execute("BEGIN")
        self._conn.executemany(
            "INSERT INTO near (rowid, user_key, vector) VALUES (?, ?, vec_bit(?))",
            [(key, owner, bytes(row)) for key, owner, row in zip(keys, owners, bits, strict=True)],
        )
        self._conn.executemany(
            "INSERT INTO word (rowid, user_key, text) VALUES (?, ?, ?)",
            list(zip(keys, owners, texts, strict=True)),
        )
        self._conn.execute("COMMIT")

    def search(self, question: str, user: int, encoder: Encoder) -> tuple[list[int], list[int]]:
        """Return the row ids of the nearest passages and of those with words of the query."""
        bits = bytes(np.packbits(encoder.encode([question])[0] > 0, bitorder="little"))
        near = self._conn.execute(
            "SELECT rowid FROM near WHERE vector MATCH vec_bit(?) AND user_key = ? "
            "AND k = ? ORDER BY distance",
            (bits, user, NEAREST),
        ).fetchall()
        asked = " OR ".join(
            f'"{word}"' for word in dict.fromkeys(words(question)) if word not in STOP_WORDS
        )
        held = self._conn.execute(
            "SELECT rowid FROM word WHERE word MATCH ? AND user_key = ? ORDER BY rank LIMIT ?",
            (asked, user, NEAREST),
        ).fetchall()
        return [row[0] for row in near], [row[0] for row in held]

    def close(self) -> None:
        """Close the file."""
        self._conn.close()
