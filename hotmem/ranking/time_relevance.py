"""Scores of statements by time: how well each fits the requested window or the day asked about."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.retrieval.requested_window import requested_window
from hotmem.types import AnswerType, Evidence, EvidenceKind, Interval, Query, Role, Source

MAX_DAY: Final = timedelta(hours=26)
"""Longest window that counts as one day: the day on which clocks are set back, with a margin."""

WINDOW_RELEVANCE: Final = 0.5
"""Relevance of a statement that fits a requested window entirely."""

MIN_FIT: Final = 0.3
"""Fit to the requested window from which a statement precedes all others."""

UNDATED_FIT: Final = 0.6
OTHER_TIME_FIT: Final = 0.2
"""Fit of a statement made within the window, where it names no time, and only other times."""

SUMMARY_FIT: Final = 0.5
"""Fit of the summary of a session within the window."""

NO_ANSWER_FACTOR: Final = 0.3
"""Factor for the assistant's turns and for questions: neither states what happened."""

ASSISTANT_QUESTION_FACTOR: Final = 0.1
"""Factor for the assistant's questions, which say nothing of what is on."""

MIN_WINDOW_SHARE: Final = 0.5
"""Share of a named time that the day must make up for a statement to be about that day: "next
week" contains the day, but is not about it."""

FLOOR_FACTOR: Final = 1.001
"""Factor above the score of the statements about another day."""

_ABOUT_SAYING: Final = re.compile(
    r"\b(?:talk|t[eo]ld|tell|sa(?:y|id)|mention|discuss|chat|cover|sp[eo]ak|conversation|session"
    r"|recap|summar)\w*",
    re.IGNORECASE,
)
"""Questions about what was said in the window, not about what happened in it."""

_PAST: Final = re.compile(
    r"\b(?:did|didn['’]?t|was|were|been|done|went|had|happened)\b", re.IGNORECASE
)
"""Words of a question about the past, which tell which half of "this week" is meant."""


def window_fit(query: Query, evidence: Sequence[Evidence]) -> list[float]:
    """How well each statement fits the window that the question requests, 0 to 1.

    A question about what was said is matched with the time of the statements; a question about
    what happened, with the times named in them and, to a lesser degree, the time of the statements.

    Returns:
        One number for each statement; 0 for all if no window is requested.
    """
    window = requested_window(query)
    if window is None:
        return [0.0] * len(evidence)
    if _ABOUT_SAYING.search(query.text):
        return [_answer_factor(one) * _contains(window, one.said_at) for one in evidence]
    future = window.end > query.at and not _PAST.search(query.text)
    return [_answer_factor(one) * _event_fit(one, window, future=future) for one in evidence]


def promote_window(
    candidates: Sequence[ScoredCandidate], fits: Sequence[float]
) -> list[ScoredCandidate]:
    """Place the candidates that fit the requested window above all others.

    Args:
        candidates: The candidates, best first.
        fits: The fit of each to the requested window, 0 to 1.
    """
    inside = [fit >= MIN_FIT for fit in fits]
    top = max(
        (one.score for one, within in zip(candidates, inside, strict=True) if not within),
        default=0.0,
    )
    promoted = [
        replace(one, score_floor=top + (1 - top) * (fit + one.score) / 2, in_window=True)
        if within
        else one
        for one, fit, within in zip(candidates, fits, inside, strict=True)
    ]
    return sorted(promoted, key=lambda one: -one.score)


def promote_day(query: Query, candidates: Sequence[ScoredCandidate]) -> list[ScoredCandidate]:
    """Place candidates about the day asked for above equally fitting ones about another day.

    "My flight is at nine tomorrow" answers a question about the next day, and about no other.

    Args:
        query: The analysed utterance.
        candidates: The candidates, best first.
    """
    window = query.analysis.time
    if window is None or window.end - window.start > MAX_DAY:
        return list(candidates)
    asked = query.stems
    others = [
        one for one in candidates if one.evidence.times and not _window_share(one.evidence, window)
    ]

    def raised(one: ScoredCandidate) -> ScoredCandidate:
        shared = one.evidence.terms & asked
        scores = [other.score for other in others if other.evidence.terms & asked <= shared]
        floor = FLOOR_FACTOR * max(scores, default=0.0)
        return replace(one, score_floor=min(floor, 1.0)) if floor > one.score else one

    promoted = [
        raised(one)
        if _window_share(one.evidence, window) >= MIN_WINDOW_SHARE and not one.replaced
        else one
        for one in candidates
    ]
    return sorted(promoted, key=lambda one: -one.score)


def _answer_factor(found: Evidence) -> float:
    is_question = bool(found.answer_types & AnswerType.QUESTION)
    is_assistant = found.role is Role.ASSISTANT
    if is_question and is_assistant:
        return ASSISTANT_QUESTION_FACTOR
    return NO_ANSWER_FACTOR if is_assistant or is_question else 1.0


def _event_fit(found: Evidence, window: Interval, *, future: bool) -> float:
    """Fit to a window by the times that a statement names, else by when it was made.

    Only its named times count for a window in the future, and for a memory stored directly.
    """
    if share := _window_share(found, window):
        return share
    if future or found.source is Source.STATEMENT or not _contains(window, found.said_at):
        return 0.0
    if found.kind is EvidenceKind.SUMMARY:
        return SUMMARY_FIT
    return OTHER_TIME_FIT if found.times else UNDATED_FIT


def _window_share(found: Evidence, window: Interval) -> float:
    """Largest share that the window makes up of a named time that overlaps it, 0 to 1.

    1 for a time no longer than the window, 0 without an overlapping one.
    """
    length = window.end - window.start
    shares = (
        min(length / (time.end - time.start), 1.0)
        for _, time in found.times
        if time.start < window.end and time.end > window.start
    )
    return max(shares, default=0.0)


def _contains(window: Interval, moment: datetime) -> bool:
    return window.start <= moment < window.end
