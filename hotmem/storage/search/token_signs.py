"""Token signs of passages and of memories stored outright.

One bit a dimension, 16 bytes a token, 0.5 KB for a turn of speech.

A fact that was read from a turn has none: its passage has them.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from hotmem.storage.database import Connection
from hotmem.types import EvidenceKind, SignBits

INSERTS: Final[Mapping[EvidenceKind, str]] = {
    EvidenceKind.PASSAGE: """INSERT OR REPLACE INTO passage_signs (passage, width, signs)
        VALUES (?1, ?2, ?3)""",
    EvidenceKind.MEMORY: """INSERT OR REPLACE INTO memory_signs (memory, width, signs)
        SELECT ?1, ?2, ?3 WHERE NOT EXISTS (SELECT 1 FROM sources WHERE memory = ?1)""",
}


def put(conn: Connection, kind: EvidenceKind, key: int, signs: SignBits) -> None:
    """Stores the signs, uint8 (tokens, width / 8), of a row, if its kind has them."""
    if kind in INSERTS and len(signs):
        conn.execute(INSERTS[kind], (key, signs.shape[1], signs.tobytes()))


def clear(conn: Connection, kind: EvidenceKind, after: int, upto: int) -> None:
    """Removes the signs of the rows of a kind above a row number and up to another."""
    if kind in INSERTS:
        table, key = (
            ("passage_signs", "passage")
            if kind is EvidenceKind.PASSAGE
            else ("memory_signs", "memory")
        )
        conn.execute(f"DELETE FROM {table} WHERE {key} > ? AND {key} <= ?", (after, upto))


def unpacked(width: int | None, signs: bytes | None) -> SignBits | None:
    """Stored signs as uint8 (tokens, width / 8); None where there are none."""
    return np.frombuffer(signs, dtype=np.uint8).reshape(-1, width) if width and signs else None
