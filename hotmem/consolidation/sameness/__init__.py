"""Whether two memories say the same.

text ─▶ figures ─▶ wording ─┐
text ─▶ figures ─▶ wording ─┴▶ differences ─▶ model ─▶ probability
"""

from hotmem.consolidation.sameness.model import AGAINST, FOR, MERGES_FROM, SIGNS, SUGGESTED_FROM, Sayings, same, signs, substituted

__all__ = ["AGAINST", "FOR", "MERGES_FROM", "SIGNS", "SUGGESTED_FROM", "Sayings", "same", "signs", "substituted"]
