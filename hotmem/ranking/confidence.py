"""Confidence: how far a statement can be trusted now, regardless of its relevance.

The source gives the base. Hedging, corrections and replacement lower it; age lowers it for
statements of a kind that changes, over months; each confirmation closes a fifth of the gap to 1.
"""

import math
from datetime import datetime
from typing import Final

from hotmem.types import Evidence, EvidenceKind, Mark

SOURCE_TRUST: Final = {
    EvidenceKind.PASSAGE: 0.95,
    EvidenceKind.MEMORY: 0.9,
    EvidenceKind.SUMMARY: 0.8,
}
"""Confidence in a quote, in an extracted fact and in a summary."""

CORRECTION_PENALTY: Final = 0.1
"""Confidence that a source loses with each correction of what it said, and regains when that is
confirmed."""

MIN_SOURCE_TRUST: Final = 0.3
"""Least confidence in a source, however often it was corrected."""

HEDGED_FACTOR: Final = 0.6
REPLACED_FACTOR: Final = 0.3
"""Factors of a hedged and of a replaced statement. A replaced statement must remain below every
current one."""

HALF_LIFE_DAYS: Final = 730.0
MIN_AGE_FACTOR: Final = 0.6
"""A statement of a kind that changes (a job, a home) loses half of its excess over
`MIN_AGE_FACTOR` in two years, about the half-life of a job or a flat."""

CONFIRMATION_GAIN: Final = 0.2
"""Share of the gap to 1 that a confirmation closes."""

HIGH_RELEVANCE: Final = 0.67
MEDIUM_RELEVANCE: Final = 0.3
HIGH_CONFIDENCE: Final = 0.7
MEDIUM_CONFIDENCE: Final = 0.4
"""Thresholds of the marks (`python -m eval calibration`)."""


def confidence(evidence: Evidence, at: datetime) -> float:
    """Probability, 0 to 1, that a statement holds at a time."""
    trust = max(
        SOURCE_TRUST[evidence.kind] - CORRECTION_PENALTY * evidence.correction_count,
        MIN_SOURCE_TRUST,
    )
    if evidence.hedged:
        trust *= HEDGED_FACTOR
    if evidence.changes:
        days = max((at - evidence.said_at).total_seconds() / 86_400, 0.0)
        decay = math.exp(-math.log(2) * days / HALF_LIFE_DAYS)
        trust *= MIN_AGE_FACTOR + (1 - MIN_AGE_FACTOR) * decay
    trust = 1 - (1 - trust) * (1 - CONFIRMATION_GAIN) ** evidence.confirmations
    return trust * REPLACED_FACTOR if is_replaced(evidence, at) else trust


def is_replaced(evidence: Evidence, at: datetime) -> bool:
    """Whether a statement had ceased to hold at a time."""
    return evidence.valid_until is not None and evidence.valid_until <= at


def is_doubted(evidence: Evidence, at: datetime) -> bool:
    """Whether a statement was possibly outdated at a time, and had not ceased to hold."""
    return (
        evidence.doubted_at is not None
        and evidence.doubted_at <= at
        and not is_replaced(evidence, at)
    )


def mark(relevance: float, confidence: float) -> Mark:
    """Both as one mark: high if both are high, low if either is low."""
    if relevance >= HIGH_RELEVANCE and confidence >= HIGH_CONFIDENCE:
        return Mark.HIGH
    if relevance >= MEDIUM_RELEVANCE and confidence >= MEDIUM_CONFIDENCE:
        return Mark.MEDIUM
    return Mark.LOW
