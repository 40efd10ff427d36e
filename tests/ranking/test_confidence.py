"""Confidence by arithmetic, and its monotonicity."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotmem.ranking.relevance import (
    HIGH_CONFIDENCE,
    HIGH_RELEVANCE,
    MEDIUM_CONFIDENCE,
    MEDIUM_RELEVANCE,
    confidence,
    mark,
)
from hotmem.types import Evidence, EvidenceKind, Mark
from tests.conversation import START
from tests.ranking.statements import evidence, moments

standing = st.builds(
    lambda kind, hedged, changes, confirmations, said_at: evidence(
        kind=kind, said_at=said_at
    )._replace(hedged=hedged, changes=changes, confirmations=confirmations),
    st.sampled_from(EvidenceKind),
    st.booleans(),
    st.booleans(),
    st.integers(0, 50),
    moments,
)


@pytest.mark.parametrize(
    ("kind", "trust"),
    [(EvidenceKind.PASSAGE, 0.95), (EvidenceKind.MEMORY, 0.9), (EvidenceKind.SUMMARY, 0.8)],
)
def test_a_quote_is_trusted_more_than_a_fact_and_a_fact_more_than_a_summary(
    kind: EvidenceKind, trust: float
) -> None:
    assert confidence(evidence(kind=kind), START) == pytest.approx(trust)
    assert confidence(evidence(kind=kind), START + timedelta(days=5000)) == pytest.approx(trust), (
        "what does not change does not age"
    )


def test_a_confirmation_closes_a_fifth_of_the_gap() -> None:
    once = evidence(kind=EvidenceKind.MEMORY)._replace(confirmations=1)
    assert confidence(once, START) == pytest.approx(1 - 0.1 * 0.8)


def test_changing_facts_have_a_half_life_of_two_years() -> None:
    job = evidence(kind=EvidenceKind.MEMORY)._replace(changes=True)
    assert confidence(job, START + timedelta(days=730)) == pytest.approx(0.9 * (0.6 + 0.4 / 2))


@given(standing, moments)
def test_confidence_is_a_probability(found: Evidence, at: datetime) -> None:
    assert 0 < confidence(found, at) <= 1


@given(standing, moments)
def test_confirmation_never_lowers_confidence(found: Evidence, at: datetime) -> None:
    more = found._replace(confirmations=found.confirmations + 1)
    assert confidence(more, at) >= confidence(found, at)


@given(standing, moments)
def test_hedging_and_corrections_lower_confidence(found: Evidence, at: datetime) -> None:
    assert confidence(found._replace(hedged=True), at) <= confidence(
        found._replace(hedged=False), at
    )


@given(standing, standing, moments)
def test_a_replaced_statement_is_below_every_current_one(
    found: Evidence, other: Evidence, at: datetime
) -> None:
    ended = found._replace(valid_until=at)
    assert confidence(ended, at) < confidence(other._replace(hedged=found.hedged), at)
    assert confidence(ended, at) < confidence(found, at)
    assert confidence(ended, at - timedelta(seconds=1)) >= confidence(ended, at), (
        "before its end it held"
    )


@given(standing, moments, st.integers(0, 5000))
def test_age_never_raises_confidence(found: Evidence, at: datetime, days: int) -> None:
    assert confidence(found, at + timedelta(days=days)) <= confidence(found, at) + 1e-12


unit = st.floats(0, 1)
ORDER = [Mark.LOW, Mark.MEDIUM, Mark.HIGH]


@given(unit, unit, unit, unit)
def test_the_mark_is_monotonic(
    relevance: float, trust: float, more_relevance: float, more_trust: float
) -> None:
    better = mark(max(relevance, more_relevance), max(trust, more_trust))
    assert ORDER.index(better) >= ORDER.index(mark(relevance, trust))


def test_a_high_mark_needs_both() -> None:
    assert mark(HIGH_RELEVANCE, HIGH_CONFIDENCE) is Mark.HIGH
    assert (
        mark(1.0, HIGH_CONFIDENCE - 0.01) is not Mark.HIGH
        and mark(HIGH_RELEVANCE - 0.01, 1.0) is not Mark.HIGH
    )
    assert mark(MEDIUM_RELEVANCE, MEDIUM_CONFIDENCE) is Mark.MEDIUM
    assert (
        mark(1.0, MEDIUM_CONFIDENCE - 0.01) is Mark.LOW
        and mark(MEDIUM_RELEVANCE - 0.01, 1.0) is Mark.LOW
    )
