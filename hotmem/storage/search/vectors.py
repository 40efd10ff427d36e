"""Vector search over one user's rows, with the signs of all vectors in memory.

A search narrows down in three steps, each more exact than the one before: signs against signs
(Hamming distance), signs against the query's floats, bytes against bytes. Each byte vector has a
scale of its own, its largest number being 127; two of them give a cosine to within 0.002.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.core.vector_math import matmul
from hotmem.storage.database import Connection, Pending
from hotmem.storage.queries import index_entries, jobs, reembedding
from hotmem.storage.queries.index_entries import SIGNED, TABLES, to_bits
from hotmem.storage.search.user_index import WORD, Index, IndexReader
from hotmem.types import EvidenceKind, QueryVectors, SignBits, UserKey, Vector

BY_HAMMING: Final = 2.5
"""Rows that pass the first step for each row wanted, times the cube root of all rows."""

BY_SIGN: Final = (2.0, 0.05)
"""Rows that pass the second for each row wanted: the first number, and the other times the cube
root of all rows. Of the exact 20 nearest of 100,000 rows 0.99 are among those for 80, of the
exact 80 nearest 0.95."""

SPAN: Final = 65_536
"""Rows whose distances are computed at once, so that intermediate results stay in the
processor's cache."""

BYTE_SCALE: Final = 127.0


def adopt(conn: Connection, encoder: str, dimension: int) -> bool:
    """Makes this the database's encoder.

    If the encoder changes, all rows are embedded again in the background (`reembedding`).

    Returns:
        Whether the encoder changed.
    """
    identity = reembedding.identified(encoder, dimension)
    if reembedding.current(conn) == identity:
        return False
    conn.hold_encoder(change=True)
    former = reembedding.current(conn)
    if former == identity:
        return False
    if former is not None:
        reembedding.begin(conn, former, identity, comparable=former.endswith(f"/{dimension}"))
    conn.execute("UPDATE tags SET vector = NULL")
    conn.execute("UPDATE subcategories SET centroid = NULL")
    conn.execute("UPDATE evolutions SET centre = NULL")
    conn.upsert("meta", {"key": "encoder", "value": identity})
    return True


def waiting(
    conn: Connection,
    limit: int,
    served: jobs.UserRotation | None = None,
    worker: str | None = None,
) -> list[tuple[EvidenceKind, int, str]]:
    """The next rows without a vector.

    Their kind, number and text; a passage's begins with its speaker's name.

    Args:
        conn: A connection.
        limit: Rows at most.
        served: Which users were served last.
        worker: Takes leases of their users.

    With the name a question about someone finds what they said: LoCoMo's evidence within 1,000
    tokens by late interaction alone rises from 0.55 to 0.77.
    """
    served = served or jobs.UserRotation()
    rows: list[tuple[EvidenceKind, int, str]] = []
    for work in jobs.embedding_kinds(served):
        kind = EvidenceKind(work)
        keys = jobs.next_rows(conn, work, served, limit - len(rows), worker)
        rows += [(kind, key, words) for key, words in reembedding.text_of(conn, kind, keys)]
    return rows


def put(
    conn: Connection,
    kind: EvidenceKind,
    keys: Sequence[int],
    vectors: Sequence[Vector],
    signs: Sequence[SignBits],
) -> None:
    """Stores the vectors and token signs of rows that still exist."""
    for key, vector, of_pieces in zip(keys, vectors, signs, strict=True):
        row = conn.execute(
            f"UPDATE {TABLES[kind]} SET vector = ?, held = 0 WHERE id = ? RETURNING user_key",
            (to_bytes(vector), key),
        ).fetchone()
        if row:
            conn.lock_user(row[0])
            index_entries.sign(conn, row[0], kind, key, vector)
            _put_signs(conn, kind, key, of_pieces)


def stored(
    conn: Connection, user: UserKey, kind: EvidenceKind, column: str, values: Sequence[int]
) -> Pending[list[tuple[int, bytes]]]:
    """Row numbers and stored vectors of the user's embedded rows with these column values."""
    # + keeps SQLite from reading all of the user's rows by another index
    return conn.execute(
        f"""SELECT id, vector FROM {TABLES[kind]}
            WHERE {column} = ANY(?) AND +user_key = ? AND vector IS NOT NULL""",
        (list(values), user),
    ).fetchall


def nearest(
    conn: Connection, index: Index | IndexReader, sought: QueryVectors, limit: int
) -> Pending[list[tuple[int, float]]]:
    """Row numbers and cosines of the user's nearest rows, nearest first."""
    known = index.read(conn)
    if not len(known.bits):
        return list
    former = int(np.searchsorted(known.keys, known.boundary, side="right"))
    root = float(np.cbrt(len(known.keys)))
    first = round(limit * max(1, BY_HAMMING * root))
    then = round(limit * (BY_SIGN[0] + BY_SIGN[1] * root))
    places = former + by_sign(known.bits[:, former:], sought.vector, first, then)
    if former and sought.former is not None:
        places = np.concatenate(
            [by_sign(known.bits[:, :former], sought.former, first, then), places]
        )
    keys = known.keys[places].tolist()
    rows = stored(conn, index.user, index.kind, "id", keys)
    return lambda: nearest_rows(rows(), sought, known.boundary, limit)


def inside(
    conn: Connection, user: UserKey, sessions: Sequence[int], sought: QueryVectors, limit: int
) -> Pending[list[tuple[int, float]]]:
    """Row numbers and cosines of the nearest passages of these sessions.

    The cost is theirs alone.
    """
    boundaries = reembedding.ask_boundaries(conn)
    rows = stored(conn, user, EvidenceKind.PASSAGE, "session", sessions)
    return lambda: nearest_rows(
        rows(), sought, boundaries().get(EvidenceKind.PASSAGE, reembedding.NONE_LEFT), limit
    )


def by_sign(bits: NDArray[np.uint64], vector: Vector, first: int, then: int) -> NDArray[np.intp]:
    """Indices of the `then` nearest by sign and float, of the `first` nearest by sign alone.

    Args:
        bits: Signs of the rows, uint64 (words, rows).
        vector: The query, float32 (dimension,).
        first: Rows that pass the first comparison, and those as near as the last of them.
        then: Rows that pass the second, and those as near as the last of them.
    """
    places = np.arange(bits.shape[1])
    if len(places) > first:
        distances = hamming(bits, vector)
        places = np.flatnonzero(distances <= np.partition(distances, first - 1)[first - 1])
        bits = np.take(bits, places, axis=1)
    if len(places) > then:
        agreement = agreements(bits, vector)
        places = places[agreement >= np.partition(agreement, -then)[-then]]
    return places


def hamming(bits: NDArray[np.uint64], vector: Vector) -> NDArray[np.uint16]:
    """In how many signs each row differs from the vector; uint16 (rows,)."""
    query = np.zeros(len(bits), dtype=WORD)
    signs = to_bits(vector)
    query.view(np.uint8)[: len(signs)] = np.frombuffer(signs, dtype=np.uint8)
    distances = np.zeros(bits.shape[1], dtype=np.uint16)
    differing, count = np.empty(SPAN, dtype=np.uint64), np.empty(SPAN, dtype=np.uint8)
    for start in range(0, len(distances), SPAN):
        span = distances[start : start + SPAN]
        for word, asked in zip(bits[:, start : start + SPAN], query, strict=True):
            np.bitwise_xor(word, asked, out=differing[: len(span)])
            np.bitwise_count(differing[: len(span)], out=count[: len(span)])
            span += count[: len(span)]
    return distances


def agreements(bits: NDArray[np.uint64], vector: Vector) -> NDArray[np.float32]:
    """The dot product of each row's signs, as 1 and -1, with the vector; float32 (rows,).

    A byte of signs is looked up at once.
    """
    weights = np.zeros((len(bits) * 8, 8), dtype=np.float32)
    weights.reshape(-1)[: len(vector)] = vector
    every_byte = np.arange(256, dtype=np.uint8)[:, None]
    signs = 2.0 * np.unpackbits(every_byte, axis=1, bitorder="little").T - 1
    of_byte = matmul(weights, signs.astype(np.float32))
    total = np.zeros(bits.shape[1], dtype=np.float32)
    looked_up = np.empty_like(total)
    octets = (
        word.astype(WORD, copy=False).view(np.uint8).reshape(-1, WORD.itemsize)[:, place]
        for word in bits
        for place in range(WORD.itemsize)
    )
    for octet, table in zip(octets, of_byte, strict=True):
        total += np.take(table, octet, out=looked_up, mode="clip")
    return total


def nearest_rows(
    rows: Sequence[tuple[int, bytes | None]], sought: QueryVectors, boundary: int, limit: int
) -> list[tuple[int, float]]:
    """Row numbers and cosines of the rows nearest to a query, nearest first.

    Args:
        rows: Row numbers and stored vectors.
        sought: The query's vectors.
        boundary: Row number up to which vectors are of the former encoder.
        limit: Rows at most.

    Returns:
        Row numbers and cosines; 0 for a row without a vector, or where either has no direction.
    """
    cosines = dict.fromkeys((key for key, _ in rows), 0.0)
    current = [(key, blob) for key, blob in rows if blob is not None and key > boundary]
    former = [(key, blob) for key, blob in rows if blob is not None and key <= boundary]
    for part, vector in ((current, sought.vector), (former, sought.former)):
        if part and vector is not None:
            values = _cosines([blob for _, blob in part], vector)
            cosines.update(zip((key for key, _ in part), values.tolist(), strict=True))
    return sorted(cosines.items(), key=lambda row: (-row[1], row[0]))[:limit]


def _cosines(blobs: Sequence[bytes], vector: Vector) -> NDArray[np.float64]:
    """Cosines of stored vectors and a vector, float64 (rows,). Float32 sums of bytes are exact."""
    rows = np.frombuffer(b"".join(blobs), dtype=np.int8).reshape(len(blobs), -1)
    stored = rows.astype(np.float32)
    query = np.frombuffer(to_bytes(vector), dtype=np.int8).astype(np.float32)
    dots = matmul(stored, query[:, None])[:, 0].astype(np.float64)
    squares = np.einsum("ij,ij->i", stored, stored).astype(np.float64)
    norms = np.sqrt(squares) * np.sqrt(float(query @ query))
    return np.asarray(np.divide(dots, norms, out=np.zeros_like(dots), where=norms > 0))


def of_turns(conn: Connection, user: UserKey, keys: Sequence[int]) -> dict[int, Vector]:
    """The mean vector of each embedded turn of the user, a unit row, by the turn's row number."""
    rows = conn.execute(
        """SELECT turn, vector FROM passages
           WHERE turn = ANY(?) AND +user_key = ? AND vector IS NOT NULL
           ORDER BY turn, id""",
        ([*keys], user),
    ).fetchall()
    if not rows:
        return {}
    vectors = from_bytes([row[1] for row in rows])
    turns, starts = np.unique([row[0] for row in rows], return_index=True)
    means = np.add.reduceat(vectors, starts, axis=0)
    means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9)
    return dict(zip(map(int, turns), means, strict=True))


def to_bytes(vector: Vector) -> bytes:
    """One signed byte a dimension, the largest being `BYTE_SCALE`."""
    return bytes(
        np.rint(vector * (BYTE_SCALE / max(float(np.abs(vector).max()), 1e-9))).astype(np.int8)
    )


def from_bytes(blobs: Iterable[bytes]) -> NDArray[np.float32]:
    """Unit rows, float32 (n, dimension), of stored byte vectors; (0, 0) of none."""
    stored = list(blobs)
    if not stored:
        return np.empty((0, 0), dtype=np.float32)
    rows = (
        np.frombuffer(b"".join(stored), dtype=np.int8).reshape(len(stored), -1).astype(np.float32)
    )
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-9), dtype=np.float32)


def _put_signs(conn: Connection, kind: EvidenceKind, key: int, signs: SignBits) -> None:
    """Stores the signs, uint8 (tokens, width / 8), of a row, if it is one that has them."""
    if (
        kind not in SIGNED
        or not len(signs)
        or (kind is EvidenceKind.MEMORY and _is_read(conn, key))
    ):
        return
    conn.execute(f"DELETE FROM {kind}_signs WHERE {kind} = ?", (key,))
    conn.execute(
        f"INSERT INTO {kind}_signs ({kind}, width, signs) VALUES (?, ?, ?)",
        (key, signs.shape[1], signs.tobytes()),
    )


def _is_read(conn: Connection, memory: int) -> bool:
    """Whether a memory was extracted from a turn."""
    return conn.exists("SELECT 1 FROM sources WHERE memory = ? LIMIT 1", (memory,))


def unpacked_signs(width: int | None, signs: bytes | None) -> SignBits | None:
    """Stored signs as uint8 (tokens, width / 8); None where there are none."""
    return np.frombuffer(signs, dtype=np.uint8).reshape(-1, width) if width and signs else None
