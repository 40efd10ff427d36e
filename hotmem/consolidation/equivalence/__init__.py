"""Whether two memories say the same.

text ─▶ figures ─▶ wording ─┐
text ─▶ figures ─▶ wording ─┴▶ differences ─▶ model ─▶ probability
"""

from hotmem.consolidation.equivalence.model import (
    AGAINST,
    FOR,
    MERGES_FROM,
    SIGNS,
    SUGGESTED_FROM,
    StatementPair,
    same,
    signs,
    substituted,
)

__all__ = [
    "AGAINST",
    "FOR",
    "MERGES_FROM",
    "SIGNS",
    "SUGGESTED_FROM",
    "StatementPair",
    "same",
    "signs",
    "substituted",
]
