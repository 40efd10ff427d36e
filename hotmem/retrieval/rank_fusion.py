"""Reciprocal rank fusion of several rankings (Cormack et al. 2009)."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

RANK_CONSTANT: Final = 10
"""The constant k of reciprocal rank fusion: 60 for deep rankings, less for those of about 100."""


def reciprocal_rank_fusion(rankings: Iterable[Iterable[int]]) -> list[tuple[int, float]]:
    """Fuse rankings: each key with the sum of its reciprocal ranks, best first.

    Args:
        rankings: Keys, best first in each ranking.
    """
    scores: defaultdict[int, float] = defaultdict(float)
    for ranking in rankings:
        for rank, key in enumerate(ranking):
            scores[key] += 1 / (RANK_CONSTANT + rank)
    return sorted(scores.items(), key=lambda pair: -pair[1])
