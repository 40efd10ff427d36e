"""Where the terms asked for stand among one user's rows, kept as long as there is room."""

from collections import OrderedDict
from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.storage.database import Connection
from hotmem.types import EvidenceKind

BYTES: Final = 64 * 2**20
"""Bytes kept, of the terms asked for last; a term in every tenth of a million rows takes 400 KB."""


class Postings:
    """The places of terms; thread-safe.

    Args:
        kind: Of what.
    """

    def __init__(self, kind: EvidenceKind) -> None:
        self.nbytes = 0
        self._kind = kind
        self._lock = Lock()
        self._known: OrderedDict[str, tuple[NDArray[np.int32], int]] = OrderedDict()

    def places(self, conn: Connection, keys: NDArray[np.int64], token: str) -> NDArray[np.int32]:
        """Places of the rows that hold the token, ascending, int32.

        Only what is new since it was last asked for is read.

        Args:
            conn: A connection that sees all of the rows.
            keys: The user's row numbers, ascending: those given before, and maybe more.
            token: A term as it is in the index.
        """
        last = int(keys[-1]) if len(keys) else 0
        with self._lock:
            known, upto = self._known.pop(token, (np.empty(0, dtype=np.int32), 0))
            self.nbytes -= known.nbytes
            if upto < last:
                known, upto = np.concatenate([known, self._read(conn, keys, token, upto)]), last
            self._known[token] = known, upto
            self.nbytes += known.nbytes
            while self.nbytes > BYTES:
                self.nbytes -= self._known.popitem(last=False)[1][0].nbytes
            return known[: np.searchsorted(known, len(keys))]

    def _read(
        self, conn: Connection, keys: NDArray[np.int64], token: str, after: int
    ) -> NDArray[np.int32]:
        (found,) = conn.execute(
            f"SELECT group_concat(rowid) FROM (SELECT rowid FROM {self._kind}_words WHERE {self._kind}_words MATCH ? AND rowid > ? ORDER BY rowid)",
            (f'"{token}"', after),
        ).fetchone()
        wanted = numbers(found or "")
        wanted = wanted[: np.searchsorted(wanted, keys[-1], side="right")]
        places = np.searchsorted(keys, wanted)
        return np.asarray(places[keys[places] == wanted], dtype=np.int32)


def numbers(joined: str) -> NDArray[np.int64]:
    """Numbers that SQLite joined with commas, which is much faster than a row for each."""
    return np.fromstring(joined, dtype=np.int64, sep=",") if joined else np.empty(0, dtype=np.int64)
