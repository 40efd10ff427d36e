"""What search reads of an engine's index (`hotmem.storage.database.SearchPrimitives`).

Ranking, from BM25 to late interaction, is the same Python code for every engine, so that all of
them give the same blocks.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class IndexState(NamedTuple):
    """What decides whether a loaded index is current.

    Attributes:
        last: Row number of the last entry; 0 if there is none.
        revision: Number of changes other than new entries.
        waiting_embedded: Whether the entry asked about as the first without a vector has one now.
        latest_embedded: The same of the last entry without a vector.
        boundary: Row number up to which vectors are of the former encoder; 0 if none are.
    """

    last: int
    revision: int
    waiting_embedded: bool
    latest_embedded: bool
    boundary: int


class IndexPage(NamedTuple):
    """Consecutive index entries of a user, by row number.

    Attributes:
        keys: Row numbers, int64 (entries,).
        sessions: Their sessions, int64 (entries,).
        lengths: Their lengths in words, int64 (entries,).
        embedded: Whether they have a vector, bool (entries,).
        bits: Signs of the vectors of those that have one, one bit a dimension, joined.
    """

    keys: NDArray[np.int64]
    sessions: NDArray[np.int64]
    lengths: NDArray[np.int64]
    embedded: NDArray[np.bool_]
    bits: bytes
