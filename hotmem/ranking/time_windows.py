"""Time windows: whether a question asks for one ("what did I do last week?"), and how well a statement belongs to it.

What a question asks of a subject of its own ("when did Clara visit last year?") is left to the
relevance model, for which the window is a feature.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.text.word_sets import wordlist
from hotmem.types import (
    Analysis,
    AnswerType,
    Evidence,
    EvidenceKind,
    Intent,
    Interval,
    Query,
    Role,
    Source,
)

WIDEST_SEARCHED: Final = timedelta(days=62)
"""A wider window is not searched by time: what lies in it is too much to be told from the rest
by that."""

WIDEST_ASKED: Final = timedelta(days=32)
"""The widest window that may be asked for as such."""

A_DAY: Final = timedelta(hours=26)
"""The longest day, on which clocks are set back, with an hour to spare."""

LIFTED: Final = 0.5
"""Relevance of what belongs to a window that is asked for."""

LEAST_BELONGING: Final = 0.3
"""How well a statement must belong to the window to stand first."""

SAID_UNDATED: Final = 0.6
SAID_OF_OTHER: Final = 0.2
"""How well what was said in a window belongs to what happened in it: where it names no time, and
where it names others only."""

OVERVIEW: Final = 0.5
"""How well the summary of a session in the window does."""

ANSWERS: Final = 0.3
"""Factor of what the assistant said, and of questions: neither tells what happened."""

CLOSELY: Final = 0.5
"""How closely a statement must tell of a day to stand above what tells of another: "next week"
holds the day, and does not tell of it."""

CONTRADICTED_ABOVE: Final = 1.001
"""How far what tells of the day asked about stands above what tells of another."""

_TIME: Final = wordlist(
    "today tonight tomorrow yesterday day days week weeks weekend weekends month months ago morning afternoon evening night noon"
    " monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october"
    " november december jan feb mar apr jun jul aug sep sept oct nov dec last past previous next coming following this earlier before after recent"
    " first second third fourth fifth sixth seventh eighth ninth tenth one two three four five six seven eight nine ten couple few"
    " easter christmas new year eve date time start beginning middle end"
)
_ASKING: Final = wordlist(
    "do did doing done go going gone went get got have had happen happened happening happens going come coming up plan plans planned planning"
    " schedule scheduled calendar agenda diary appointment appointments event events activity activities busy free thing things stuff else"
    " anything something everything remember remind know known tell told telling talk talked talking talks say said saying mention mentioned"
    " discuss discussed discussing chat chatted chatting cover covered speak spoke spoken conversation conversations session sessions recap"
    " summary summarise summarize overview catch brief exactly again please"
)
_NUMBER: Final = re.compile(r"\d+(?:st|nd|rd|th)?|['’]\w{1,2}|\d{1,4}[-/.]\d{1,2}(?:[-/.]\d{1,4})?")
_SAID: Final = re.compile(
    r"\b(?:talk|t[eo]ld|tell|sa(?:y|id)|mention|discuss|chat|cover|sp[eo]ak|conversation|session|recap|summar)\w*",
    re.IGNORECASE,
)
_PAST: Final = re.compile(
    r"\b(?:did|didn['’]?t|was|were|been|done|went|had|happened)\b", re.IGNORECASE
)
"""What a question about the past has; "this week" is past and future."""


def searched(analysis: Analysis) -> Interval | None:
    """The window to search by time; None without one, or where it is too wide."""
    window = analysis.time
    return window if window is not None and window.end - window.start <= WIDEST_SEARCHED else None


def asked_for(query: Query) -> Interval | None:
    """The window, of about a month at most, that a question asks for as such.

    Without its time words no content word is left.
    """
    analysis = query.analysis
    window = analysis.time
    if (
        window is None
        or window.end - window.start > WIDEST_ASKED
        or not (analysis.question or analysis.intent is Intent.SUMMARY)
    ):
        return None
    left = (
        word
        for word in analysis.terms
        if word not in _TIME and word not in _ASKING and not _NUMBER.fullmatch(word)
    )
    return None if any(left) else window


def belonging(query: Query, evidence: Sequence[Evidence]) -> list[float]:
    """How well each statement belongs to the window that the question asks for, 0 to 1.

    0 for all where it asks for none.

    Asked what was said, it counts when that was; asked what happened or will, what the words tell
    of, and less when it was told.
    """
    window = asked_for(query)
    if window is None:
        return [0.0] * len(evidence)
    if _SAID.search(query.text):
        return [_answering(one) * _said_in(one, window) for one in evidence]
    ahead = window.end > query.at and not _PAST.search(query.text)
    return [_answering(one) * _happened_in(one, window, ahead=ahead) for one in evidence]


def window_first(
    judged: Sequence[ScoredCandidate], belongs: Sequence[float]
) -> list[ScoredCandidate]:
    """The statements, best first, what belongs to the window above all that does not.

    Args:
        judged: The statements, best first.
        belongs: How well each belongs to the window that is asked for.
    """
    inside = [share >= LEAST_BELONGING for share in belongs]
    if not any(inside):
        return list(judged)
    top = max(
        (one.rank for one, within in zip(judged, inside, strict=True) if not within), default=0.0
    )
    lifted = [
        replace(one, rank_floor=top + (1 - top) * (share + one.rank) / 2, foremost=True)
        if within
        else one
        for one, share, within in zip(judged, belongs, inside, strict=True)
    ]
    return sorted(lifted, key=lambda one: -one.rank)


def day_first(query: Query, judged: Sequence[ScoredCandidate]) -> list[ScoredCandidate]:
    """The statements, best first, each that tells of the day asked about above those that say as much of another day.

    "My flight is at nine tomorrow" answers on the next day, and on no other.
    """
    window = query.analysis.time
    if window is None or window.end - window.start > A_DAY:
        return list(judged)
    asked = query.stems
    others = [one for one in judged if one.evidence.times and not _told(one.evidence, window)]
    if not others:
        return list(judged)

    def above(one: ScoredCandidate) -> ScoredCandidate:
        held = one.evidence.terms & asked
        beaten = [other.rank for other in others if other.evidence.terms & asked <= held]
        floor = CONTRADICTED_ABOVE * max(beaten, default=0.0)
        return replace(one, rank_floor=min(floor, 1.0)) if floor > one.rank else one

    lifted = [
        above(one) if _told(one.evidence, window) >= CLOSELY and not one.replaced else one
        for one in judged
    ]
    return sorted(lifted, key=lambda one: -one.rank)


def _answering(found: Evidence) -> float:
    return (
        ANSWERS if found.role is Role.ASSISTANT or found.answer_types & AnswerType.QUESTION else 1.0
    )


def _said_in(found: Evidence, window: Interval) -> float:
    return float(_holds(window, found.said_at))


def _happened_in(found: Evidence, window: Interval, *, ahead: bool) -> float:
    """Without a time of its own, what was said in the window may tell what happened in it.

    Not what is still to come, nor what was noted down.
    """
    if told := _told(found, window):
        return told
    if ahead or found.source is Source.STATEMENT or not _holds(window, found.said_at):
        return 0.0
    if found.kind is EvidenceKind.SUMMARY:
        return OVERVIEW
    return SAID_OF_OTHER if found.times else SAID_UNDATED


def _told(found: Evidence, window: Interval) -> float:
    """How closely the words tell of the window.

    1 for a time no longer than it, less for longer ones, 0 for none in it.
    """
    asked = window.end - window.start
    shares = (
        min(asked / (time.end - time.start), 1.0)
        for _, time in found.times
        if time.start < window.end and time.end > window.start
    )
    return max(shares, default=0.0)


def _holds(window: Interval, moment: datetime) -> bool:
    return window.start <= moment < window.end
