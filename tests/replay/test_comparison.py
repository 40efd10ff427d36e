"""Comparison of settings: verdicts by arithmetic, coverage of intervals, and sentences."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.errors import InvalidInput
from hotmem.options import Options
from hotmem.replay.comparison import (
    MARGIN,
    Comparison,
    Interval,
    Outcome,
    Verdict,
    compare,
    decide,
    paired_difference,
    sign_test_sessions,
)
from hotmem.replay.recording import Exchange, Recording, unrelated_replies
from hotmem.replay.replaying import Study
from hotmem.replay.report import cautions, conclusion, reasons, rounded
from hotmem.replay.settings import NOW, Setting
from hotmem.replay.settings import settings as read_settings
from hotmem.types import START_WEIGHTS, Layer, Tally, Turn, Weights
from tests.tables import tables

CASES = tables(__file__)

GOOD, BAD, NONE = Interval(0.1, 0.05, 0.15), Interval(-0.1, -0.15, -0.05), Interval(0.0, -0.2, 0.2)
SPARED, SPENT = Interval(-300, -320, -280), Interval(300, 280, 320)
TIGHT = Interval(-0.005, -0.02, 0.01)


def setting(name: str) -> Setting:
    return Setting(name, Options(), START_WEIGHTS)


def outcome(session: int, found: float, wasted: int, coincidence: float = 0.0) -> Outcome:
    return Outcome(session, Tally(1, 10, 2, wasted + 100, wasted, 1), found, coincidence, 20.0)


def of(*rows: tuple[tuple[float, int], ...], per_session: int = 3) -> Comparison:
    """Settings whose outcomes are given exchange by exchange.

    What each found, and the tokens it wasted.
    """
    names = [NOW, *(f"HOTMEM_VERBATIM_CONTEXT_WINDOW={place}" for place in range(1, len(rows[0])))]
    outcomes = [
        [outcome(number // per_session, found, wasted) for found, wasted in row]
        for number, row in enumerate(rows)
    ]
    return compare([setting(name) for name in names], outcomes)


@pytest.mark.parametrize(
    ("found", "wasted", "verdict"),
    [
        (GOOD, SPENT, Verdict.MORE),
        (GOOD, SPARED, Verdict.MORE),
        (BAD, SPARED, Verdict.LESS),
        (TIGHT, SPARED, Verdict.CHEAPER),
        (NONE, SPARED, Verdict.SPARING),
        (NONE, SPENT, Verdict.COSTLY),
        (TIGHT, SPENT, Verdict.DEARER),
        (NONE, NONE, Verdict.SAME),
    ],
)
def test_the_verdict_on_differences(found: Interval, wasted: Interval, verdict: Verdict) -> None:
    assert decide(found, wasted, now=0.3) is verdict


def test_better_settings_are_recognised() -> None:
    rows = [
        (
            (0.3 + number % 3 / 10, 700),
            (0.5 + number % 3 / 10, 800),
            (0.3 + number % 3 / 10, 200),
            (0.1, 100),
        )
        for number in range(60)
    ]
    comparison = of(*rows)
    assert [one.verdict for one in comparison.figures] == [
        None,
        Verdict.MORE,
        Verdict.CHEAPER,
        Verdict.LESS,
    ]
    assert (
        comparison.better is comparison.figures[1] and comparison.cheaper is comparison.figures[2]
    )
    gain = comparison.figures[1].found_gain
    assert gain is not None and gain.low == pytest.approx(0.2) and gain.high == pytest.approx(0.2)
    assert (comparison.exchanges, comparison.sessions) == (
        60,
        20,
    ) and comparison.level == pytest.approx(1 - 0.05 / 3)
    assert conclusion(comparison) == "Better: 1 characters around a passage"
    assert [
        name in sentence
        for name, sentence in zip(
            ("1 characters around", "2 characters around"), reasons(comparison), strict=True
        )
    ] == [True, True]


def test_coincidence_is_subtracted() -> None:
    outcomes = [
        [outcome(number, 0.3, 500), outcome(number, 0.5, 1500, coincidence=0.2)]
        for number in range(40)
    ]
    comparison = compare([setting(NOW), setting("HOTMEM_MAX_CONTEXT_TOKENS=2000")], outcomes)
    assert (
        comparison.figures[1].found == pytest.approx(0.3)
        and comparison.figures[1].verdict is Verdict.DEARER
    )


@pytest.mark.parametrize(
    "rows, asked",
    CASES["few_sessions_give_no_verdict_and_no_estimate"],
)
def test_few_sessions_give_no_verdict_and_no_estimate(rows: int, asked: str) -> None:
    comparison = of(*[((0.3, 700), (0.9, 100))] * rows)
    assert comparison.figures[1].verdict is Verdict.SAME
    assert conclusion(comparison) == "Too little to judge."
    assert reasons(comparison) == [
        f"This comparison has only {asked} Compare again with at least 30 questions from 10 "
        "sessions; keep your settings until then."
    ]


def test_what_is_needed_follows_from_the_interval() -> None:
    """Half the margin takes four times the sessions; a known difference takes none."""
    assert [sign_test_sessions(level) for level in (0.9, 0.95, 0.99)] == [5, 6, 8]
    noisy = [((0.3, 700), (0.3 + (0.2 if number // 3 % 2 else -0.2), 700)) for number in range(60)]
    comparison = of(*noisy)
    width = comparison.figures[1].found_gain.half_width
    expected = 20 * (width / (MARGIN * 0.3)) ** 2
    assert comparison.needed_sessions == pytest.approx(expected, abs=1) and comparison.too_little
    assert conclusion(comparison) == "Too little to judge."
    settled = of(*[((0.3, 700), (0.3, 700))] * 60)
    assert settled.needed_sessions == 6 and conclusion(settled) == "Keep your settings."
    nothing = of(*[((-0.01, 700), (value, 700)) for value in (-0.1, 0.1)] * 30)
    assert nothing.too_little and nothing.now.found_share == 0
    assert nothing.needed_sessions is None and "cannot be estimated" in reasons(nothing)[0]


def test_an_estimate_has_two_digits() -> None:
    assert [rounded(number) for number in (6, 61, 614, 6149)] == [6, 61, 610, 6100]
    gains = [0.2 if number // 3 % 2 else -0.2 for number in range(60)]
    (sentence,) = reasons(of(*[((0.3, 700), (0.3 + gain, 700)) for gain in gains]))
    named = [int(number.replace(",", "")) for number in re.findall(r"about ([\d,]+) q", sentence)]
    assert named and all(number > 60 and number == rounded(number) for number in named)


def test_the_interval_has_its_nominal_coverage() -> None:
    generator, held = np.random.default_rng(3), 0
    for _ in range(60):
        sessions = np.repeat(np.arange(40), 3)
        differences = np.repeat(generator.normal(0, 0.2, 40), 3) + generator.normal(0, 0.1, 120)
        interval = paired_difference(differences, sessions, 0.95)
        held += interval.low <= 0 <= interval.high
    assert held >= 50


@settings(max_examples=20)
@given(st.lists(st.tuples(st.floats(-1, 1), st.integers(0, 5)), min_size=1, max_size=30))
def test_the_interval_is_within_the_differences(rows: list[tuple[float, int]]) -> None:
    differences, sessions = (
        np.array([value for value, _ in rows]),
        np.array([session for _, session in rows]),
    )
    interval = paired_difference(differences, sessions, 0.95)
    assert differences.min() - 1e-9 <= interval.low <= interval.high <= differences.max() + 1e-9


def test_unrelated_replies_are_evenly_distributed() -> None:
    exchanges = [Exchange(place // 4, place % 4, f"{place}") for place in range(20)]
    assert sorted(
        reply for replies in unrelated_replies(exchanges, 3) for reply in replies
    ) == sorted(3 * [one.reply for one in exchanges])


@given(st.lists(st.integers(0, 4), max_size=12))
def test_unrelated_replies_prefer_other_sessions(sessions: list[int]) -> None:
    exchanges = [
        Exchange(session, place, f"{session}-{place}")
        for place, session in enumerate(sorted(sessions))
    ]
    for one, others in zip(exchanges, unrelated_replies(exchanges, 4), strict=True):
        elsewhere = sum(other.session != one.session for other in exchanges)
        assert len(others) == min(len(exchanges) - 1, 4) and one.reply not in others
        assert sum(not other.startswith(f"{one.session}-") for other in others) == min(elsewhere, 4)


def studied(comparison: Comparison, reply: str = "She is called Potola.") -> Study:
    turn = Turn("ana", "s", "user", "What is my dog called?", datetime(2026, 3, 2, tzinfo=UTC))
    return Study(Recording("ana", ((turn,),), START_WEIGHTS), (Exchange(0, 0, reply),), comparison)


def test_warnings() -> None:
    plenty = of(*[((0.3, 700), (0.3, 700))] * 60)
    assert cautions(studied(plenty)) == []
    assert "only 21 questions" in cautions(studied(of(*[((0.3, 700), (0.3, 700))] * 21)))[0]
    assert "came from memory" in cautions(studied(of(*[((0.0, 700), (0.0, 700))] * 60)))[0]
    assert (
        "English"
        in cautions(studied(plenty, "Deine Hündin heißt doch Potola, oder etwa nicht?"))[0]
    )
    left_out = replace(
        studied(plenty),
        recording=Recording("ana", studied(plenty).recording.sessions, START_WEIGHTS, 4000),
    )
    assert "earliest 4,000 turns were" in cautions(left_out)[0]


LEARNT = Weights(0.9, 0.8, 0.6, 0.5)


def test_the_default_comparison_excludes_the_present_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOTMEM_MAX_CONTEXT_TOKENS", "500")
    names = [one.name for one in read_settings((), START_WEIGHTS)]
    assert (
        names[0] == NOW
        and "HOTMEM_MAX_CONTEXT_TOKENS=500" not in names
        and "HOTMEM_MAX_CONTEXT_TOKENS=1000" in names
    )
    assert "weights=start" not in names and "weights=start" in [
        one.name for one in read_settings((), LEARNT)
    ]


def test_settings_are_parsed() -> None:
    now, several, weights, layers = read_settings(
        [
            "hotmem_max_context_tokens=300 VERBATIM_CONTEXT_WINDOW=2",
            "weights=1,0.5,0.5,0.1",
            "layers=verbatim,facts",
        ],
        LEARNT,
    )
    assert (
        several.options.recall.max_tokens,
        several.options.recall.verbatim_window,
        several.weights,
    ) == (300, 2, LEARNT)
    assert several.name == "HOTMEM_MAX_CONTEXT_TOKENS=300 HOTMEM_VERBATIM_CONTEXT_WINDOW=2"
    assert several.advice == "HOTMEM_MAX_CONTEXT_TOKENS=300\nHOTMEM_VERBATIM_CONTEXT_WINDOW=2"
    assert (
        weights.weights == Weights(1.0, 0.5, 0.5, 0.1)
        and weights.advice == "# in Python: LearningOptions(weights=Weights(1, 0.5, 0.5, 0.1))"
    )
    assert (
        layers.options.recall.layers == (Layer.FACTS, Layer.VERBATIM)
        and "Layer.FACTS" in layers.advice
    )
    assert now.options.models.embeddings_cached == 0


@pytest.mark.parametrize(("text", "error"), CASES["an_invalid_setting_is_named"])
def test_an_invalid_setting_is_named(text: str, error: str) -> None:
    with pytest.raises(InvalidInput, match=error):
        read_settings([text], START_WEIGHTS)
