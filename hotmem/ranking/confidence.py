"""How far a statement can be trusted now, apart from whether it helps.

The design multiplies 0.7 x age x source x confirmations with a 24-hour decay, which can never reach
its own thresholds of 0.7 and 0.8. Its factors stay, the curve is another: the source is the start,
doubt and having been replaced lower it, age counts only for what changes and over months, and every
confirmation takes a fifth of what is missing to 1.
"""

import math
from datetime import datetime
from typing import Final

from hotmem.types import Evidence, EvidenceKind, Mark

SOURCE: Final = {EvidenceKind.PASSAGE: 0.95, EvidenceKind.MEMORY: 0.9, EvidenceKind.SUMMARY: 0.8}
"""Trust by source: a quote, an extracted fact, a summary (the design's values)."""

DOUBTED: Final = 0.1
"""Trust that a source loses each time that something it said was corrected, and gains again when
it is confirmed (the design's value)."""

LEAST_SOURCE: Final = 0.3
"""Trust of a source that was corrected ever so often."""

DOUBT: Final = 0.6
REPLACED: Final = 0.3
"""Factors of a hedged and of a superseded statement; a replaced one must stay below every
current one."""

HALF_LIFE_DAYS: Final = 730.0
LEAST_AGED: Final = 0.6
"""What changes (a job, a home) loses half of its excess over `LEAST_AGED` in two years, about
the half-life of a job or a flat."""

CONFIRMATION: Final = 0.2

HIGH_RELEVANCE: Final = 0.67
"""Of held-out items so relevant 71 in 100 are labelled as evidence, of those from
`MEDIUM_RELEVANCE` on 23, of the others 3; what answers without being labelled counts as wrong."""
MEDIUM_RELEVANCE: Final = 0.15
HIGH_CONFIDENCE: Final = 0.7
MEDIUM_CONFIDENCE: Final = 0.4


def confidence(evidence: Evidence, at: datetime) -> float:
    """Probability, 0 to 1, that the statement holds at a time."""
    trust = max(SOURCE[evidence.kind] - DOUBTED * evidence.correction_count, LEAST_SOURCE)
    if evidence.hedged:
        trust *= DOUBT
    if evidence.changes:
        days = max((at - evidence.said_at).total_seconds() / 86_400, 0.0)
        trust *= LEAST_AGED + (1 - LEAST_AGED) * math.exp(-math.log(2) * days / HALF_LIFE_DAYS)
    trust = 1 - (1 - trust) * (1 - CONFIRMATION) ** evidence.confirmations
    return trust * REPLACED if replaced(evidence, at) else trust


def replaced(evidence: Evidence, at: datetime) -> bool:
    """Whether the statement had stopped being true at a time."""
    return evidence.valid_until is not None and evidence.valid_until <= at


def mark(relevance: float, confidence: float) -> Mark:
    """Both in one word: high needs both high, low is what lacks either."""
    if relevance >= HIGH_RELEVANCE and confidence >= HIGH_CONFIDENCE:
        return Mark.HIGH
    if relevance >= MEDIUM_RELEVANCE and confidence >= MEDIUM_CONFIDENCE:
        return Mark.MEDIUM
    return Mark.LOW
