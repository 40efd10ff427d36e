"""What search reads of an engine's index (`hotmem.storage.database.SearchPrimitives`).

Ranking, from BM25 to late interaction, is the same Python code for every engine, so that all of
them give the same blocks.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


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
