"""Conclusions and warnings of a comparison, as sentences."""

from typing import Final

from hotmem.replay.comparison import MARGIN, MIN_EXCHANGES, Comparison, Figures
from hotmem.replay.study import Study

MIN_SESSIONS: Final = 10
"""Sessions below which the report warns."""

MIN_FOUND: Final = 0.03
"""Share of content words below which the report warns that memory is hardly used."""

MAX_FOREIGN: Final = 0.3
"""Share of replies in other languages from which the report warns."""


def conclusion(comparison: Comparison) -> str:
    """Return the conclusion in one line."""
    best = comparison.better or comparison.cheaper
    if best is not None:
        return f"Better: {best.setting.plain}"
    return "Too little to judge." if comparison.too_little else "Keep your settings."


def reasons(comparison: Comparison) -> list[str]:
    """Explain why settings are better, or that none is."""
    sentences = []
    if comparison.better is not None:
        sentences.append(_finds_more(comparison.better, comparison.now))
    if comparison.cheaper is not None:
        sentences.append(_costs_less(comparison.cheaper, comparison.now))
    others, questions = len(comparison.figures) - 1, comparison.exchanges
    if comparison.too_little:
        sentences.append(_too_little(comparison))
    elif not sentences:
        sentences.append(
            f"None of the {others} other settings is significantly better with {questions} "
            "questions: keep your settings."
        )
        sentences += [_undecided(one, comparison.now) for one in comparison.undecided]
    return sentences


def cautions(study: Study) -> list[str]:
    """Return warnings about this recording; empty if there are none."""
    comparison, sentences = study.comparison, list[str]()
    few = comparison.exchanges < MIN_EXCHANGES or comparison.sessions < MIN_SESSIONS
    if few and not comparison.too_little:
        asked = f"{comparison.exchanges} questions from {comparison.sessions} sessions"
        sentences.append(
            f"There are only {asked}. Real differences may not be significant yet; try again after "
            "more conversations."
        )
    if comparison.now.found < MIN_FOUND:
        share = f"{comparison.now.found_share:.0%}"
        sentences.append(
            f"Only {share} of the words in the replies came from memory, so there is little to "
            "compare. Either your bot is rarely asked about earlier conversations, or it ignores "
            "its context block."
        )
    if study.foreign >= MAX_FOREIGN:
        sentences.append(
            f"{study.foreign:.0%} of the replies do not look English. HotMem supports English "
            "only; do not rely on these figures."
        )
    if study.recording.left_out:
        sentences.append(
            f"The {study.recording.left_out:,} earliest turns were left out; raise --turns to "
            "replay them."
        )
    return sentences


def _too_little(comparison: Comparison) -> str:
    """Say how much more is needed; the present settings stay until then."""
    needed = comparison.needed_sessions
    questions = -(-comparison.exchanges * needed // comparison.sessions)
    return (
        f"{comparison.exchanges} questions from {comparison.sessions} sessions are too little to "
        f"judge. It takes about {questions:,} questions from {needed:,} sessions to tell a "
        f"difference of {MARGIN:.0%} in what memory finds; keep your settings until then."
    )


def _finds_more(one: Figures, now: Figures) -> str:
    low, high = 100 * one.found_gain.low, 100 * one.found_gain.high
    extra = one.tokens - now.tokens
    price = (
        f"It costs {extra:.0f} more tokens per question."
        if extra > 0.5
        else f"It also saves {-extra:.0f} tokens per question."
    )
    return (
        f"With {one.setting.plain}, memory provides {one.found_share:.0%} of the content words in "
        f"the replies; with your present settings, {now.found_share:.0%}. The gain is significant: "
        f"{100 * one.found_gain.mean:.0f} percentage points, confidence interval {low:.1f} to "
        f"{high:.1f}. {price}"
    )


def _costs_less(one: Figures, now: Figures) -> str:
    return (
        f"With {one.setting.plain}, the language model reads {one.tokens:.0f} tokens per question "
        f"instead of {now.tokens:.0f}, {-one.wasted_gain.mean:.0f} fewer of them unused, and "
        f"memory finds as much: {one.found_share:.0%} of the content words in the replies; your "
        f"present settings {now.found_share:.0%}. The confidence interval of the difference is "
        f"{100 * one.found_gain.low:+.1f} to {100 * one.found_gain.high:+.1f} percentage points."
    )


def _undecided(one: Figures, now: Figures) -> str:
    """Describe the cost of a setting whose benefit is inconclusive."""
    difference = one.tokens - now.tokens
    price, doubt = (
        (f"costs {difference:.0f}", "more")
        if difference > 0
        else (f"saves {-difference:.0f}", "less")
    )
    return (
        f"With {one.setting.plain}, each question {price} tokens. Whether it finds {doubt} "
        f"({one.found_share:.0%} against {now.found_share:.0%}) is inconclusive: compare again "
        "after more conversations, or raise --questions."
    )
