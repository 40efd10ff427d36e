"""What says that something has changed stands above what it changed.

"it's rescheduled to 4:30" above "the meeting is at 3".

Neither how late something was said nor how alike two statements are tells which of them holds; that
the later one says so does.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.text.answer_types import expected_answer_types
from hotmem.types import AnswerType, EvidenceKind, Query
from hotmem.understanding.animate_nouns import ANIMATE

LOOKED_AT: Final = 24
"""Statements among which a later one may stand above an earlier one, best first."""

SHARED: Final = 0.4
"""Share of the question's words that both must hold."""

NEAR: Final = 0.25
"""Part of the earlier one's relevance that the later one must have."""

ABOVE: Final = 1.001
"""How far above: enough to be first of the two, and behind what stood above both."""

_CHANGED: Final = re.compile(
    r"\b(?:now|nowadays|these days|recently|lately|currently|latest|new|newly|instead|actually|any ?more|no longer|so far|up to|down to"
    r"|reschedul\w+|postponed|(?:moved|pushed|brought|put) (?:to|up|back|off|forward)|chang(?:ed|es|ing)|updat(?:ed?|es|ing)|switched|replaced"
    r"|corrected|reached|rose|risen|gr[eo]wn?|increas(?:ed|es)|rais(?:ed|es)|extend(?:ed|s)|improv(?:ed|es)|reduc(?:ed|es)|dropped|lowered|cut|added"
    r"|hit)\b",
    re.IGNORECASE,
)
"""Words that tell of a change, or of how things stand by now."""

_WORD: Final = re.compile(r"[^\W_]+")

_BEFORE: Final = re.compile(
    r"\b(?:before|previous(?:ly)?|original(?:ly)?|initial(?:ly)?|first|used to|earlier|at the time|back then|old)\b",
    re.IGNORECASE,
)
"""Words of a question that asks for what was."""


_OWNER: Final = re.compile(r"(?<![\w'’])([A-Z][\w-]+)['’]s?\s+[a-z]")
"""Someone named to whom something belongs: "Carla's rent"."""

_RELATIVE: Final = re.compile(rf"\b(?:{'|'.join(sorted(ANIMATE))}),?\s+([A-Z][\w-]+)")
"""Someone named by what they are to the speaker: "my son Max"."""

_QUALIFIED: Final = re.compile(
    r"(?:\b(?:my|our)|['’]s)\s+(?:new\s+)?(work|office|company|business|private|home|holiday|summer|winter|guest|other|second|first|old|older|younger"
    r"|left|right)\s+[a-z]",
    re.IGNORECASE,
)
"""Which one of several things of a kind: "my work phone"."""

_PRONOUNS: Final = frozenset(
    {"it", "that", "this", "there", "here", "he", "she", "what", "who", "let", "where"}
)
"""Words before "'s" that are no owners."""


def current_first(query: Query, judged: Sequence[ScoredCandidate]) -> list[ScoredCandidate]:
    """The statements, best first, each that tells of a change above the earlier ones that the question is as much about.

    Args:
        query: The analysed utterance; one that asks for what was before changes nothing.
        judged: The statements, best first.
    """
    form = expected_answer_types(query.text)
    asked = query.stems
    if not form or not asked or _BEFORE.search(query.text):
        return list(judged)
    about = [
        one for one in judged[:LOOKED_AT] if len(one.evidence.terms & asked) >= SHARED * len(asked)
    ]
    changes = [one for one in about if _tells_of_change(one, form)]
    earlier = {
        id(one): [
            other.rank
            for other in about
            if _superseded(other, one) and not _of_another(query, other, one)
        ]
        for one in changes
    }
    if not any(earlier.values()):
        return list(judged)
    lifted = [
        replace(one, rank_floor=ABOVE * max(earlier[id(one)])) if earlier.get(id(one)) else one
        for one in judged
    ]
    return sorted(lifted, key=lambda one: -one.rank)


def _tells_of_change(one: ScoredCandidate, form: AnswerType) -> bool:
    said = one.evidence.text
    return (
        bool(one.evidence.answer_types & form)
        and not one.replaced
        and _CHANGED.search(said) is not None
    )


def _superseded(other: ScoredCandidate, one: ScoredCandidate) -> bool:
    """Whether a statement is of the same speaker, earlier, and the question no more about it."""
    earlier, later = other.evidence, one.evidence
    return (
        earlier.place < later.place
        and earlier.speaker == later.speaker
        and EvidenceKind.SUMMARY not in (earlier.kind, later.kind)
        and one.relevance >= NEAR * other.relevance
    )


def _of_another(query: Query, other: ScoredCandidate, one: ScoredCandidate) -> bool:
    """Whether a later statement is of somebody or something else than an earlier one, and the question not of it in particular.

    It lacks a name that the question asks for and the earlier has, or tells whose or which it is,
    and neither other does.
    """
    earlier, later = (
        set(_WORD.findall(judged.evidence.text.casefold())) for judged in (other, one)
    )
    asked = set(_WORD.findall(query.text.casefold()))
    named = {word for name in query.analysis.entities for word in _WORD.findall(name.casefold())}
    if named & earlier - later:
        return True
    return bool(
        _whose(one.evidence.text) - earlier - asked - {name.casefold() for name in query.speakers}
    )


def _whose(text: str) -> set[str]:
    """Those whom a statement names as owners or relatives, and what says which thing of a kind is meant, in lower case."""
    owners = {
        match[1].casefold() for pattern in (_OWNER, _RELATIVE) for match in pattern.finditer(text)
    } - _PRONOUNS
    return owners | {match[1].casefold() for match in _QUALIFIED.finditer(text)}
