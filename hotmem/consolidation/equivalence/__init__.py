"""Statement equivalence: whether two memories say the same.

text ─▶ numbers ─▶ features ─┐
text ─▶ numbers ─▶ features ─┴▶ differences ─▶ model ─▶ probability
"""

from hotmem.consolidation.equivalence.features import (
    FEATURES,
    MERGE_THRESHOLD,
    NEGATIVE_FEATURES,
    POSITIVE_FEATURES,
    SUGGESTION_THRESHOLD,
    StatementPair,
    differs_in_one_word,
    equivalence_probability,
    pair_features,
)

__all__ = [
    "FEATURES",
    "MERGE_THRESHOLD",
    "NEGATIVE_FEATURES",
    "POSITIVE_FEATURES",
    "SUGGESTION_THRESHOLD",
    "StatementPair",
    "differs_in_one_word",
    "equivalence_probability",
    "pair_features",
]
