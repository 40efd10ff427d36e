"""Signs of a passage's word pieces: one bit a dimension, some 50 bytes a piece, 1.5 KB for a turn of speech."""

import numpy as np

from hotmem.store.driver import Connection
from hotmem.types import Signs


def put(conn: Connection, passage: int, signs: Signs) -> None:
    """Stores the signs, uint8 (pieces, width / 8), of a passage that exists."""
    conn.execute("INSERT OR REPLACE INTO pieces (passage, width, signs) VALUES (?, ?, ?)", (passage, signs.shape[1], signs.tobytes()))


def clear(conn: Connection) -> None:
    """Removes all signs: those of two encoders cannot be compared, nor need they be of one width."""
    conn.execute("DELETE FROM pieces")


def unpacked(width: int | None, signs: bytes | None) -> Signs | None:
    """Stored signs as uint8 (pieces, width / 8); None where there are none."""
    return np.frombuffer(signs, dtype=np.uint8).reshape(-1, width) if width and signs else None
