"""Token signs of passages, and of memories that were stored without a turn.

One bit per dimension: 16 bytes a token, about 0.5 KB a spoken turn. A fact extracted from a turn
has none; its passage has them.
"""

from typing import Final

import numpy as np

from hotmem.storage.database import Connection
from hotmem.types import EvidenceKind, SignBits

SIGNED: Final = (EvidenceKind.PASSAGE, EvidenceKind.MEMORY)
"""Kinds that have signs."""


def put(conn: Connection, kind: EvidenceKind, key: int, signs: SignBits) -> None:
    """Stores the signs, uint8 (tokens, width / 8), of a row, if it is one that has them."""
    if kind not in SIGNED or not len(signs) or (kind is EvidenceKind.MEMORY and _read(conn, key)):
        return
    conn.execute(f"DELETE FROM {kind}_signs WHERE {kind} = ?", (key,))
    conn.execute(
        f"INSERT INTO {kind}_signs ({kind}, width, signs) VALUES (?, ?, ?)",
        (key, signs.shape[1], signs.tobytes()),
    )


def clear(conn: Connection, kind: EvidenceKind, after: int, upto: int) -> None:
    """Removes the signs of the rows of a kind above a row number and up to another."""
    if kind in SIGNED:
        conn.execute(f"DELETE FROM {kind}_signs WHERE {kind} > ? AND {kind} <= ?", (after, upto))


def _read(conn: Connection, memory: int) -> bool:
    """Whether a memory was extracted from a turn."""
    row = conn.execute("SELECT 1 FROM sources WHERE memory = ? LIMIT 1", (memory,)).fetchone()
    return row is not None


def unpacked(width: int | None, signs: bytes | None) -> SignBits | None:
    """Stored signs as uint8 (tokens, width / 8); None where there are none."""
    return np.frombuffer(signs, dtype=np.uint8).reshape(-1, width) if width and signs else None
