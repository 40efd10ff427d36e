"""Finds what the user said by a description of it: "the bit about my weight".

    description ─▶ embedding ─▶ nearest passages and memories ─▶ fit ─▶ groups that state the same

It reads the nearest statements and the sources of those that are found, not the whole memory.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from hotmem.consolidation.equivalence import (
    MERGE_THRESHOLD,
    StatementPair,
    differs_in_one_word,
    equivalence_probability,
)
from hotmem.consolidation.equivalence.vocabulary import DATES, canonical
from hotmem.recall import RecallContext
from hotmem.storage import queries
from hotmem.storage.search.searches import LexicalSearch, VectorSearch
from hotmem.text.languages import ENGLISH
from hotmem.text.stemming import STOP_STEMS, terms, words
from hotmem.types import Evidence, EvidenceKind, QueryVectors, Role, UserKey, Vector
from hotmem.understanding.animate_nouns import ACQUAINTANCES, FAMILY
from hotmem.understanding.query.cues import DIRECT_QUESTION
from hotmem.understanding.query.described_deletions import find_described_deletion

NEAREST: Final = 8
"""Number of passages, and of memories, that are compared with a description."""

SOURCE_FIT: Final = 0.6
"""Fit from which a memory that was read from a turn found states what is described, so that its
other turns do, too."""

MISSING_NAME: Final = 0.25
"""Lowers the fit of a statement without somebody that the description names."""

OTHER_PERSON: Final = 0.1
"""Lowers the fit of a statement about somebody, if the description names nobody."""

NOT_THE_USER: Final = 0.2
"""The same, if the description is about the user: "my knee", but "My husband has a bad knee"."""

ALL_WORDS, MAX_ALL_WORDS = 0.05, 0.1
"""Raises the fit of a statement with all content words of the description, by their number."""

SUBJECT_WORDS: Final = 3
"""Number of first words of a statement among which is whom it is about: "My best friend"."""

_PEOPLE: Final = frozenset(map(canonical, FAMILY | ACQUAINTANCES))
_FIRST_PERSON: Final = re.compile(r"\b(?:i|my|mine|me|myself)\b", re.IGNORECASE)
_USER: Final = re.compile(r"\b(?:i|we)\b", re.IGNORECASE)
"""The user as the subject of a statement; a stem of "is" would look like it."""

_CAPITALISED: Final = re.compile(r"(?<!^)(?<![.?!] )\b[A-Z]\w+")
_OWNER: Final = re.compile(r"(?i)\b(?!(?:it|that|what|who|there|here|how|where|let)\b)(\w+)['’]s\b")
"""Whose thing a statement is about: "Wilma's number"; not "it's"."""

_CAPITALISED_FIRST: Final = re.compile(r"^[A-Z]\w+")


@dataclass(frozen=True, slots=True)
class DescribedStatement:
    """A statement that may be what is described.

    Attributes:
        text: What was said, or the stored memory.
        fit: How well it fits, about -1 to 1.
        complete: Whether it has all content words of the description.
        turn_ids: The turns that state it.
        memory_id: The memory's id if no turn states it, else None.
    """

    text: str
    fit: float
    complete: bool
    turn_ids: tuple[str, ...]
    memory_id: str | None


@dataclass(frozen=True, slots=True)
class _Candidate:
    evidence: Evidence
    vector: Vector
    fit: float
    complete: bool


def fit(description: str, statement: str, cosine: float) -> float:
    """How well a statement fits a description: the cosine, raised or lowered by their words.

    Args:
        description: Words for a statement, or the statement itself.
        statement: A statement, in the first person where it is about the user.
        cosine: Cosine of their embeddings, -1 to 1.
    """
    said, wanted = _canonical_words(statement), _canonical_words(description)
    names = _names(_CAPITALISED.findall(description))
    if not names | (wanted & _PEOPLE) <= said:
        return cosine - MISSING_NAME
    if has_all_words(description, statement):
        cosine += min(ALL_WORDS * len(wanted - STOP_STEMS), MAX_ALL_WORDS)
    first = _names(_CAPITALISED_FIRST.findall(description))
    opening = " ".join(statement.split()[:SUBJECT_WORDS])
    others = _canonical_words(opening) & _PEOPLE | _names(_OWNER.findall(opening)) - wanted
    about_user = _USER.search(opening) is not None
    if about_user or not others or wanted & _PEOPLE or (names | first) & said:
        return cosine
    return cosine - (NOT_THE_USER if _FIRST_PERSON.search(description) else OTHER_PERSON)


def has_all_words(description: str, statement: str) -> bool:
    """Whether a statement has all content words of a description, or synonyms of them."""
    return _canonical_words(description) - STOP_STEMS <= _canonical_words(statement)


def _names(capitalised: Iterable[str]) -> frozenset[str]:
    """The words of capitalised words that may be names, as `canonical` returns them."""
    return frozenset(
        canonical(part)
        for word in capitalised
        if word.casefold() not in DATES
        for part in words(word)
    )


async def find_described(
    context: RecallContext, user: UserKey, description: str
) -> tuple[DescribedStatement, ...]:
    """Statements that may be what is described, the one that fits best first.

    What states the same is one statement with several turns.

    Args:
        context: The resources of the read path.
        user: The user.
        description: A statement in the words of the user, or words for one.
    """
    (vector,) = await asyncio.to_thread(context.encoder.encode, [description])
    former = context.former.encoder
    sought = QueryVectors(
        vector,
        None if former is None else (await asyncio.to_thread(former.encode, [description]))[0],
    )
    stems = tuple(terms(description, context.expected_language))
    kinds = (EvidenceKind.PASSAGE, EvidenceKind.MEMORY)
    found = await context.engine.search(
        user,
        *(VectorSearch(kind, sought, NEAREST) for kind in kinds),
        *(LexicalSearch(kind, stems, NEAREST) for kind in kinds),
    )
    keys = {
        kind: list(dict.fromkeys(key for ranking in found[place::2] for key, _ in ranking))
        for place, kind in enumerate(kinds)
    }
    evidence = await context.database.read(queries.evidence.load, user, keys)
    candidates = await _candidates(context, description, vector, evidence)
    groups = _grouped(candidates, english=context.expected_language == ENGLISH)
    grouped = (one.evidence for one in chain.from_iterable(groups))
    memories = [one.key for one in grouped if one.kind is EvidenceKind.MEMORY]
    turns = await context.database.read(queries.memories.turns_of, user, memories)
    return tuple(_statement(group, turns) for group in groups)


def _statement(
    group: Sequence[_Candidate], turns: Mapping[int, Sequence[str]]
) -> DescribedStatement:
    """A statement of a group.

    Args:
        group: Candidates that state the same, the best fit first.
        turns: All turns that the memories among them come from, by row number.
    """
    best = group[0].evidence
    stated_in = (
        turns.get(one.evidence.key, ())
        if one.evidence.kind is EvidenceKind.MEMORY
        else one.evidence.turn_ids
        for one in group
    )
    return DescribedStatement(
        text=best.text,
        fit=group[0].fit,
        complete=group[0].complete,
        turn_ids=tuple(dict.fromkeys(chain.from_iterable(stated_in))),
        memory_id=None if best.turn_ids else best.memory_id,
    )


async def _candidates(
    context: RecallContext, description: str, vector: Vector, evidence: Sequence[Evidence]
) -> list[_Candidate]:
    """What the user said, and current memories, the best fit first.

    Requests to forget something repeat the description, and questions state nothing.
    """
    said = [
        one
        for one in evidence
        if (one.role is Role.USER if one.kind is EvidenceKind.PASSAGE else one.valid_until is None)
        and not (find_described_deletion(one.text) or DIRECT_QUESTION.search(one.text))
    ]
    texts = [_in_first_person(one) for one in said]
    vectors = [
        None if one.vector is None or one.former or text != one.text else one.vector
        for one, text in zip(said, texts, strict=True)
    ]
    missing = [text for text, row in zip(texts, vectors, strict=True) if row is None]
    encoded = iter(await asyncio.to_thread(context.encoder.encode, missing) if missing else ())
    rows = [next(encoded) if row is None else row for row in vectors]
    candidates = [
        _Candidate(
            one,
            row,
            fit(description, text, float(vector @ row)),
            has_all_words(description, text),
        )
        for one, text, row in zip(said, texts, rows, strict=True)
    ]
    return sorted(candidates, key=lambda one: -one.fit)


def _in_first_person(one: Evidence) -> str:
    """A memory as the speaker would say it, for words and meaning: "my dog is called Rocky"."""
    if one.kind is not EvidenceKind.MEMORY or not one.speaker:
        return one.text
    text = re.sub(rf"\b{re.escape(one.speaker)}(?:'s|’s|')", "my", one.text)
    return re.sub(rf"\b{re.escape(one.speaker)}\b", "I", text)


def _grouped(candidates: Sequence[_Candidate], *, english: bool) -> list[list[_Candidate]]:
    """Candidates that state the same, the best fit first, and the groups by their best fit.

    A memory that was read from a turn of a group, but fits less than `SOURCE_FIT`, states something
    else of that turn, and is in no group.
    """
    groups: list[list[_Candidate]] = []
    for one in candidates:
        turns = set(one.evidence.turn_ids)
        same_turn = next(
            (g for g in groups if any(turns.intersection(o.evidence.turn_ids) for o in g)), None
        )
        if same_turn is not None:
            if one.fit >= SOURCE_FIT or one.evidence.kind is EvidenceKind.PASSAGE:
                same_turn.append(one)
            continue
        equal = next((g for g in groups if _states_the_same(g[0], one, english=english)), None)
        if equal is None:
            groups.append([one])
        else:
            equal.append(one)
    return groups


def _states_the_same(one: _Candidate, other: _Candidate, *, english: bool) -> bool:
    if not english:
        return one.evidence.terms == other.evidence.terms
    cosine = float(one.vector @ other.vector)
    pair = StatementPair(one.evidence.text, other.evidence.text, cosine)
    differ = differs_in_one_word(pair.one, pair.other)
    return not differ and equivalence_probability(pair) >= MERGE_THRESHOLD


def _canonical_words(text: str) -> frozenset[str]:
    return frozenset(map(canonical, words(text)))
