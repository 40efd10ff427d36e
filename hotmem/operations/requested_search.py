"""Search for what a query asks for by kind, tag and time, apart from its words.

    hits of the layers + memories of the kind, tag or period ─▶ how far each matches ─▶ scores

A memory that does not match is not excluded where the query has a topic: its relevance counts
less. Without a topic the matching memories are the results, the latest first, reminders by the time
they are due.
"""

import asyncio
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Final

import numpy as np

from hotmem.consolidation.equivalence import (
    DATES,
    MERGE_THRESHOLD,
    StatementPair,
    canonical,
    differs_in_one_word,
    equivalence_probability,
)
from hotmem.core.vector_math import matmul
from hotmem.operations.requests import SearchOptions
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.recall import RecallContext
from hotmem.remember import query_vectors
from hotmem.retrieval.context import RetrievalContext
from hotmem.storage import queries
from hotmem.storage.search.searches import LexicalSearch, VectorSearch
from hotmem.text.languages import ENGLISH
from hotmem.text.stemming import STOP_STEMS, terms, words
from hotmem.text.tag_words import tag_key
from hotmem.types import (
    Category,
    Evidence,
    EvidenceKind,
    Hit,
    Kind,
    MemoryMetadata,
    Query,
    QueryVectors,
    Role,
    UserKey,
    Vector,
)
from hotmem.understanding.lexicon import ACQUAINTANCES, FAMILY
from hotmem.understanding.query.command_rules import find_described_deletion
from hotmem.understanding.query.cues import DIRECT_QUESTION
from hotmem.understanding.query.requested import NOUNS, Requested, RequestedKind

MAX_LATEST: Final = 50
"""Number of the latest memories of a kind, tag or period that are ranked as well."""

MAX_TAGS: Final = 500
"""Number of a user's tags, the most recent, that a topic is compared with."""

SAME_TAG: Final = 0.6
"""Cosine from which a tag means the same as a topic (`python -m eval searches`)."""

MISMATCH: Final = 12.0
"""What a full mismatch takes from the logit of relevance (`python -m eval searches`)."""

TAG_BONUS: Final = 1.0
"""What a tag with the meaning of the topic adds to the logit (`python -m eval searches`)."""

WEAK: Final = 0.6
"""Match of a statement that only may be of a kind, 0 to 1."""

RECORDED: Final[Mapping[RequestedKind, tuple[tuple[Kind, ...], tuple[Category, ...]]]] = {
    RequestedKind.REMINDERS: ((Kind.REMINDER,), (Category.REMINDERS,)),
    RequestedKind.PREFERENCES: ((Kind.PREFERENCE,), ()),
    RequestedKind.RULES: ((Kind.RULE,), (Category.SYSTEM,)),
    RequestedKind.SKILLS: ((Kind.SKILL,), ()),
    RequestedKind.LEARNINGS: ((), (Category.LEARNINGS,)),
    RequestedKind.PROJECTS: ((), (Category.PROJECTS,)),
    RequestedKind.INTERACTIONS: ((), (Category.INTERACTIONS,)),
    RequestedKind.REFERENCES: ((), (Category.REFERENCES,)),
    RequestedKind.CONTEXTS: ((Kind.CONTEXT,), (Category.CONTEXTS,)),
}
"""The kinds and categories that are stored with a memory, of which it has one."""

FORMS: Final[Mapping[RequestedKind, tuple[str, str]]] = {
    RequestedKind.DECISIONS: (
        r"(?i)\b(?:decided?|decision|agreed?|chose|chosen|opted|settled on"
        r"|made up (?:my|our) minds?"
        r"|going with|go(?:es)? with|went with|picked|we dropped|instead of|rather than)\b",
        r"(?i)\b(?:not|never|only|because|(?:i|we) (?:take|use|build|keep|stay|stick|will)"
        r"|no longer|from now on|i'm|we're|i'll|we'll)\b",
    ),
    RequestedKind.LINKS: (
        r"(?i)https?://|\bwww\.|\b\w+\.(?:com|org|net|pdf|docx?|xlsx?)\b",
        r"(?i)\b(?:link|website|documents?|pdf|file|manual|guide|leaflet|article|video|template)\b",
    ),
    RequestedKind.CODE: (
        r"[{}]|\w\(.*\)|\s--?\w|&&|\|\||=>|;$|(?:^|\s)=\w+|\$\w"
        r"|\b(?:SELECT|sudo|git|docker|npm|pip|ssh|curl|import) \w",
        r"(?i)\b(?:command|script|shell|formula|function|code)\b",
    ),
}
"""How the text of a statement shows its kind: surely, and possibly."""

EXAMPLES: Final[Mapping[RequestedKind, str]] = {
    RequestedKind.DECISIONS: "We decided to go with this one and not the other.",
    RequestedKind.LINKS: "A link to a document: https://example.com/guide.pdf",
    RequestedKind.CODE: "A command or a piece of code: run('script.py --all');",
}
"""A statement of each kind that only its text shows, near which others are looked for."""


@dataclass(frozen=True, slots=True)
class Matches:
    """What a search asks for, and the tags of memories by which a match is seen.

    Attributes:
        requested: What is asked for.
        tagged: Row numbers of the memories with the tag, or with a tag that means the topic.
    """

    requested: Requested
    tagged: frozenset[int]


async def find_kind(
    context: RetrievalContext, query: Query, hits: Sequence[Hit], options: SearchOptions
) -> list[int]:
    """Row numbers of the memories of the kind that the options limit a search to.

    They are the hits of that kind and the latest. Without these, a few reminders among thousands of
    facts would be found only by their words. None if the options do not limit the kind.
    """
    kind = next((kind for kind in Kind if kind == options.content_type), None)
    if kind is None:
        return []
    found = [hit.key for hit in hits if hit.kind is EvidenceKind.MEMORY]
    return await context.database.read(
        queries.memories.of_kind, query.user, kind, found, MAX_LATEST
    )


async def find_requested(
    context: RetrievalContext, query: Query, requested: Requested
) -> tuple[list[int], Matches]:
    """Row numbers of the latest memories of the requested kind, tag and period, and the matches.

    Args:
        context: The resources of retrieval.
        query: The analysed topic, or the whole query if there is none.
        requested: What is asked for.
    """
    tags = await _tags(context, query, requested)
    tagged = (
        await context.database.read(queries.memories.tagged, query.user, tags, MAX_LATEST)
        if tags
        else []
    )
    kinds, categories = RECORDED.get(requested.kind, ((), ()))
    period = None if requested.due else requested.time
    latest = (
        await context.database.read(
            queries.memories.latest_of, query.user, kinds, categories, period, MAX_LATEST
        )
        if kinds or categories or period
        else []
    )
    near: list[tuple[int, float]] = []
    if (example := EXAMPLES.get(requested.kind)) is not None:
        (vector,) = await asyncio.to_thread(context.encoder.encode, [example])
        (near,) = await context.engine.search(
            query.user, VectorSearch(EvidenceKind.MEMORY, QueryVectors(vector), MAX_LATEST)
        )
    keys = dict.fromkeys((*tagged, *latest, *(key for key, _ in near)))
    return list(keys), Matches(requested, frozenset(tagged))


async def _tags(context: RetrievalContext, query: Query, requested: Requested) -> list[str]:
    """The user's tags that the query names, or that mean the same as its topic."""
    named = requested.tag or requested.topic.lower()
    if not named:
        return []
    if await context.database.read(queries.tags.with_keys, query.user, [tag_key(named)]):
        return [named]
    names, rows = await context.database.read(queries.tags.in_use, query.user, MAX_TAGS)
    vector = np.asarray(await asyncio.to_thread(context.encoder.encode, [named]))
    if not names or rows.shape[1] != vector.shape[1]:
        return []
    (cosines,) = matmul(vector, rows.T)
    return [name for name, cosine in zip(names, cosines, strict=True) if cosine >= SAME_TAG]


def requested_results(
    statements: Sequence[ScoredCandidate],
    scores: Sequence[float],
    metadata: Mapping[int, MemoryMetadata],
    matches: Matches,
    at: datetime,
) -> list[tuple[float, ScoredCandidate]]:
    """The statements and their scores, 0 to 1, by what is requested and by relevance; best first.

    Empty if there is no topic and nothing matches.

    Args:
        statements: The statements.
        scores: Their relevance to the topic.
        metadata: Metadata of the memories among them, by row number.
        matches: What is requested.
        at: Time of the query.
    """
    requested = matches.requested
    matched = [
        (match(one.evidence, metadata.get(one.evidence.key) if _is_memory(one) else None, matches))
        for one in statements
    ]
    if requested.topic:
        found = [
            (
                _shifted(
                    score, share, tagged=_is_memory(one) and one.evidence.key in matches.tagged
                ),
                one,
            )
            for score, share, one in zip(scores, matched, statements, strict=True)
        ]
        return sorted(found, key=lambda pair: -pair[0])
    full = [(share, one) for share, one in zip(matched, statements, strict=True) if share > 0]
    ordered = sorted(full, key=lambda pair: (-pair[0], _place(pair[1].evidence, requested, at)))
    return [
        (share * (1 - place / (2 * len(ordered))), one)
        for place, (share, one) in enumerate(ordered)
    ]


def match(found: Evidence, metadata: MemoryMetadata | None, matches: Matches) -> float:
    """How far a statement is of the requested kind, tag and period, 0 to 1.

    Args:
        found: The statement.
        metadata: Its metadata; None for turns and summaries.
        matches: What is requested.
    """
    requested = matches.requested
    share = _match_of_kind(found, metadata, requested.kind)
    if requested.topic and not share and found.kind is EvidenceKind.PASSAGE:
        share = WEAK  # a turn has no kind, so it may be of any
    if requested.topic and re.search(
        rf"\b(?:{NOUNS[requested.kind]})\b", found.text, re.IGNORECASE
    ):
        share = 1.0  # "Appointment at the dentist's" is meant by "dentist appointments"
    if requested.tag is not None and (metadata is None or found.key not in matches.tagged):
        return 0.0
    if requested.time is not None and share:
        period = requested.time
        inside = (
            any(time.start < period.end and time.end > period.start for _, time in found.times)
            if requested.due
            else period.start <= found.said_at < period.end
        )
        share *= inside
    return share


def _match_of_kind(found: Evidence, metadata: MemoryMetadata | None, kind: RequestedKind) -> float:
    if kind is RequestedKind.NOTES:
        return 0.0 if found.kind is EvidenceKind.SUMMARY else 1.0
    if kind in RECORDED:
        kinds, categories = RECORDED[kind]
        return float(
            metadata is not None and (metadata.kind in kinds or metadata.category in categories)
        )
    if found.kind is EvidenceKind.SUMMARY:
        return 0.0
    sure, possible = FORMS[kind]
    if re.search(sure, found.text):
        return 1.0
    return WEAK if re.search(possible, found.text) else 0.0


def _place(found: Evidence, requested: Requested, at: datetime) -> tuple[float, float]:
    """The place of a matching statement: reminders by when they are due, others the latest first.

    Reminders that are over, or have no time, come after those that are due.
    """
    said = -found.said_at.timestamp()
    if requested.kind is not RequestedKind.REMINDERS:
        return 0.0, said
    since = at if requested.time is None else requested.time.start
    ahead = [time.start.timestamp() for _, time in found.times if time.end > since]
    if ahead:
        return 0.0, min(ahead)
    return (2.0 if found.is_past(at) else 1.0), said


def _shifted(score: float, share: float, *, tagged: bool) -> float:
    """A relevance, 0 to 1, lowered by a mismatch and raised by a tag, on the scale of its logit."""
    score = min(max(score, 1e-4), 1 - 1e-4)
    logit = math.log(score / (1 - score)) - MISMATCH * (1 - share) + TAG_BONUS * tagged
    return 1 / (1 + math.exp(-logit))


def _is_memory(one: ScoredCandidate) -> bool:
    return one.evidence.kind is EvidenceKind.MEMORY


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
    sought = await asyncio.to_thread(query_vectors, context, description)
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
    candidates = await _candidates(context, description, sought.vector, evidence)
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
