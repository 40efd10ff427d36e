"""Embeddings: one bit a dimension in the index, one byte a dimension beside the row for exact re-scoring.

A search takes the nearest by Hamming distance and orders them by the cosine of the byte vectors; on random unit vectors of
384 dimensions the byte vectors keep the cosine within 0.002.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.store.driver import Connection
from hotmem.types import EvidenceKind, UserKey, Vector

TABLES: Final = {EvidenceKind.PASSAGE: "passages", EvidenceKind.MEMORY: "memories", EvidenceKind.SUMMARY: "summaries"}

OVERSAMPLING: Final = 2
"""Bit-nearest rows taken for each row wanted."""

MOST_NEAREST: Final = 4096
"""sqlite-vec's limit on k."""

BYTE_SCALE: Final = 127.0


def adopt(conn: Connection, encoder: str, dimension: int) -> bool:
    """Makes the vector indexes for this encoder; with another encoder than before, everything waits to be embedded anew.

    Returns:
        Whether the indexes were made anew.
    """
    identity = f"{encoder}/{dimension}"
    row = conn.execute("SELECT value FROM meta WHERE key = 'encoder'").fetchone()
    if row and row[0] == identity:
        return False
    for kind, table in TABLES.items():
        index = f"{kind}_vectors"
        conn.execute(f"DROP TRIGGER IF EXISTS {index}_gone")
        conn.execute(f"DROP TABLE IF EXISTS {index}")
        conn.execute(f"CREATE VIRTUAL TABLE {index} USING vec0 (user INTEGER PARTITION KEY, vector BIT[{dimension}])")
        conn.execute(f"CREATE TRIGGER {index}_gone AFTER DELETE ON {table} BEGIN DELETE FROM {index} WHERE rowid = old.id; END")
        conn.execute(f"UPDATE {table} SET vector = NULL")
    conn.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('encoder', ?)", (identity,))
    return True


def waiting(conn: Connection, limit: int) -> list[tuple[EvidenceKind, int, str]]:
    """Rows without a vector: their kind, number and text."""
    rows: list[tuple[EvidenceKind, int, str]] = []
    for kind, table in TABLES.items():
        found = conn.execute(
            f"SELECT w.rowid, w.text FROM {table} b JOIN {kind}_words w ON w.rowid = b.id WHERE b.vector IS NULL ORDER BY b.id LIMIT ?",
            (limit - len(rows),),
        )
        rows += [(kind, key, text) for key, text in found]
    return rows


def put(conn: Connection, kind: EvidenceKind, keys: Sequence[int], vectors: NDArray[np.float32]) -> None:
    """Stores the embeddings, float32 (n, dimension), of rows that still exist."""
    table = TABLES[kind]
    for key, vector in zip(keys, vectors, strict=True):
        row = conn.execute(f"UPDATE {table} SET vector = ? WHERE id = ? RETURNING user", (to_bytes(vector), key)).fetchone()
        if row:
            conn.execute(f"DELETE FROM {kind}_vectors WHERE rowid = ?", (key,))
            conn.execute(f"INSERT INTO {kind}_vectors (rowid, user, vector) VALUES (?, ?, vec_bit(?))", (key, row[0], to_bits(vector)))


def nearest(conn: Connection, kind: EvidenceKind, user: UserKey, vector: Vector, limit: int) -> list[tuple[int, float]]:
    """Row numbers and cosines of the user's nearest rows, nearest first."""
    rows = conn.execute(
        f"""SELECT b.id, b.vector FROM (SELECT rowid FROM {kind}_vectors WHERE vector MATCH vec_bit(?) AND user = ? AND k = ?) n
            JOIN {TABLES[kind]} b ON b.id = n.rowid WHERE b.vector IS NOT NULL AND b.user = ?""",
        (to_bits(vector), user, min(limit * OVERSAMPLING, MOST_NEAREST), user),
    ).fetchall()
    return _ordered(rows, vector, limit)


def inside(conn: Connection, user: UserKey, sessions: Sequence[int], vector: Vector, limit: int) -> list[tuple[int, float]]:
    """Row numbers and cosines of the nearest passages of these sessions; the cost is theirs alone."""
    marks = ",".join("?" * len(sessions))
    rows = conn.execute(f"SELECT id, vector FROM passages WHERE session IN ({marks}) AND user = ? AND vector IS NOT NULL", (*sessions, user))
    return _ordered(rows.fetchall(), vector, limit)


def _ordered(rows: Sequence[tuple[int, bytes]], vector: Vector, limit: int) -> list[tuple[int, float]]:
    if not rows:
        return []
    cosines = from_bytes([row[1] for row in rows]) @ vector
    order = np.argsort(-cosines, kind="stable")[:limit]
    return [(rows[place][0], float(cosines[place])) for place in order]


def of_session(conn: Connection, session: int) -> dict[int, Vector]:
    """The mean vector of each embedded turn of a session, as a unit row, by the turn's row number."""
    rows = conn.execute("SELECT turn, vector FROM passages WHERE session = ? AND vector IS NOT NULL ORDER BY turn", (session,)).fetchall()
    if not rows:
        return {}
    vectors = from_bytes([row[1] for row in rows])
    turns, starts = np.unique([row[0] for row in rows], return_index=True)
    means = np.add.reduceat(vectors, starts, axis=0)
    means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9)
    return dict(zip(map(int, turns), means, strict=True))


def to_bits(vector: Vector) -> bytes:
    """The signs, one bit a dimension, as sqlite-vec reads them."""
    return bytes(np.packbits(vector > 0, bitorder="little"))


def to_bytes(vector: Vector) -> bytes:
    """One signed byte a dimension."""
    return bytes(np.rint(np.clip(vector, -1, 1) * BYTE_SCALE).astype(np.int8))


def from_bytes(blobs: Iterable[bytes]) -> NDArray[np.float32]:
    """Unit rows, float32 (n, dimension), of stored byte vectors of one dimension."""
    stored = list(blobs)
    rows = np.frombuffer(b"".join(stored), dtype=np.int8).reshape(len(stored), -1).astype(np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-9), dtype=np.float32)
