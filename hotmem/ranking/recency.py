"""Recency: a statement of a change precedes the statement that it changes.

"It's rescheduled to 4:30" precedes "the meeting is at 3". Neither the age of two statements nor
their similarity shows which of them holds; the words of the later one do.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.text.answer_types import expected_answer_types
from hotmem.types import AnswerType, EvidenceKind, Query
from hotmem.understanding.animate_nouns import ANIMATE

COMPARED: Final = 24
"""Number of best candidates that are compared."""

MIN_OVERLAP: Final = 0.4
"""Share of the query's words that both statements must contain."""

MIN_RELATIVE_RELEVANCE: Final = 0.25
"""Share of the earlier statement's relevance that the later one must have."""

FLOOR_FACTOR: Final = 1.001
"""Factor above the earlier statement's score: just enough to precede it."""

_CHANGED: Final = re.compile(
    r"\b(?:now|nowadays|these days|recently|lately|currently|latest|new|newly|instead|actually"
    r"|any ?more|no longer|so far|up to|down to|reschedul\w+|postponed"
    r"|(?:moved|pushed|brought|put) (?:to|up|back|off|forward)"
    r"|chang(?:ed|es|ing)|updat(?:ed?|es|ing)|switched|replaced|corrected|reached|rose|risen"
    r"|gr[eo]wn?|increas(?:ed|es)|rais(?:ed|es)|extend(?:ed|s)|improv(?:ed|es)|reduc(?:ed|es)"
    r"|dropped|lowered|cut|added|hit)\b",
    re.IGNORECASE,
)
"""Words that state a change, or a present state."""

_WORD: Final = re.compile(r"[^\W_]+")

_BEFORE: Final = re.compile(
    r"\b(?:before|previous(?:ly)?|original(?:ly)?|initial(?:ly)?|first|used to|earlier"
    r"|at the time|back then|old)\b",
    re.IGNORECASE,
)
"""Words of a question about a former state."""


_OWNER: Final = re.compile(r"(?<![\w'’])([A-Z][\w-]+)['’]s?\s+[a-z]")
"""The name of an owner: "Carla's rent"."""

_RELATIVE: Final = re.compile(rf"\b(?:{'|'.join(sorted(ANIMATE))}),?\s+([A-Z][\w-]+)")
"""The name of a relative or a pet: "my son Max"."""

_QUALIFIED: Final = re.compile(
    r"(?:\b(?:my|our)|['’]s)\s+(?:new\s+)?"
    r"(work|office|company|business|private|home|holiday|summer|winter|guest|other|second|first"
    r"|old|older|younger|left|right)\s+[a-z]",
    re.IGNORECASE,
)
"""A qualifier that distinguishes things of a kind: "my work phone"."""

_PRONOUNS: Final = frozenset(
    {"it", "that", "this", "there", "here", "he", "she", "what", "who", "let", "where"}
)
"""Words before "'s" that name no owner."""


def promote_current(query: Query, candidates: Sequence[ScoredCandidate]) -> list[ScoredCandidate]:
    """Place each statement of a change above the earlier statements on the same subject.

    Args:
        query: The analysed utterance; a question about a former state changes nothing.
        candidates: The candidates, best first.
    """
    expected = expected_answer_types(query.text)
    asked = query.stems
    if not expected or not asked or _BEFORE.search(query.text):
        return list(candidates)
    about = [
        one
        for one in candidates[:COMPARED]
        if len(one.evidence.terms & asked) >= MIN_OVERLAP * len(asked)
    ]
    changes = [one for one in about if _states_change(one, expected)]
    earlier = {
        id(one): [
            other.score
            for other in about
            if _is_superseded(other, one) and not _concerns_another(query, other, one)
        ]
        for one in changes
    }
    if not any(earlier.values()):
        return list(candidates)
    promoted = [
        replace(one, score_floor=FLOOR_FACTOR * max(earlier[id(one)]))
        if earlier.get(id(one))
        else one
        for one in candidates
    ]
    return sorted(promoted, key=lambda one: -one.score)


def _states_change(one: ScoredCandidate, expected: AnswerType) -> bool:
    return (
        bool(one.evidence.answer_types & expected)
        and not one.replaced
        and _CHANGED.search(one.evidence.text) is not None
    )


def _is_superseded(other: ScoredCandidate, one: ScoredCandidate) -> bool:
    """Whether a statement is earlier, by the same speaker and not much more relevant."""
    earlier, later = other.evidence, one.evidence
    return (
        earlier.place < later.place
        and earlier.speaker == later.speaker
        and EvidenceKind.SUMMARY not in (earlier.kind, later.kind)
        and one.relevance >= MIN_RELATIVE_RELEVANCE * other.relevance
    )


def _concerns_another(query: Query, other: ScoredCandidate, one: ScoredCandidate) -> bool:
    """Whether a later statement concerns another person or thing than an earlier one.

    It does if it lacks a name of the query that the earlier one has, or if it names an owner or a
    qualifier that neither the query nor the earlier one has.
    """
    earlier, later = (set(_WORD.findall(found.evidence.text.casefold())) for found in (other, one))
    asked = set(_WORD.findall(query.text.casefold()))
    named = {word for name in query.analysis.entities for word in _WORD.findall(name.casefold())}
    if named & earlier - later:
        return True
    return bool(
        _owners_and_qualifiers(one.evidence.text)
        - earlier
        - asked
        - {name.casefold() for name in query.speakers}
    )


def _owners_and_qualifiers(text: str) -> set[str]:
    """The owners, relatives and qualifiers that a statement names, in lower case."""
    owners = {
        match[1].casefold() for pattern in (_OWNER, _RELATIVE) for match in pattern.finditer(text)
    } - _PRONOUNS
    return owners | {match[1].casefold() for match in _QUALIFIED.finditer(text)}
