"""store_memory: a statement is classified, tagged, compared with similar memories, and stored.

    content ─┬▶ embedding ─┬▶ similar memories ────┬▶ confirms an existing memory, or is stored
             ├▶ parse ─────┴▶ tags, classification ─┘      and ends, or puts in doubt, others
             └▶ facts, and what it contradicts ────────────┘

A statement with metadata of its own (a category, an expiry, a note) never confirms another memory,
where the metadata would be lost; a merge is only suggested.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.consolidation.equivalence import (
    MERGE_THRESHOLD,
    SUGGESTION_THRESHOLD,
    StatementPair,
    differs_in_one_word,
    equivalence_probability,
)
from hotmem.consolidation.tagging import MIN_COSINE, same_meaning
from hotmem.core.vector_math import matmul
from hotmem.models import encode_tokens
from hotmem.operations.contextual_results import Occurrence, RepeatedStatement
from hotmem.operations.requests import StoreContext
from hotmem.operations.results import (
    Call,
    Classification,
    Conflict,
    ConflictAdvice,
    Recommendations,
    SimilarMemory,
    StoreResult,
    settle,
)
from hotmem.readings import store_note
from hotmem.recall import RecallContext
from hotmem.remember import WriteContext, find_revision
from hotmem.retrieval.query import NOBODY
from hotmem.storage import queries
from hotmem.storage.search.searches import VectorSearch
from hotmem.text.language_detection import is_english
from hotmem.text.stemming import stems
from hotmem.text.tag_words import tag_key
from hotmem.types import (
    Category,
    Evidence,
    EvidenceKind,
    Kind,
    NewMemory,
    QueryVectors,
    RevisedMemory,
    Role,
    UserKey,
    Vector,
)
from hotmem.types.understanding import Doc
from hotmem.understanding.facts.classification import MIN_CONFIDENCE, classify
from hotmem.understanding.facts.instructions import is_instruction
from hotmem.understanding.facts.tags import circumstance_tags, extract_tags
from hotmem.understanding.query.analyzer import content_terms
from hotmem.understanding.query.entities import find_entities

NEAREST_COMPARED: Final = 3
"""Number of nearest memories that are compared by the equivalence model."""

SIMILAR_FROM: Final = 0.45
"""Cosine from which a memory counts as similar."""

MAX_KNOWN_TAGS: Final = 500
"""Number of existing tags, the most recent, that a new one is compared with."""


@dataclass(frozen=True, slots=True)
class _Tags:
    """Tags of a statement.

    Attributes:
        given: Those given, and those of its circumstances.
        found: Others, found in its words.
        vectors: The embeddings of new tags.
        replacements: New tags, and the existing tags that replace them.
    """

    given: tuple[str, ...]
    found: tuple[str, ...]
    vectors: Mapping[str, Vector]
    replacements: Mapping[str, str]

    @property
    def effective(self) -> tuple[str, ...]:
        """The tags after replacement."""
        found = (self.replacements.get(tag, tag) for tag in self.found)
        return tuple(dict.fromkeys((*self.given, *found)))


async def store_statement(
    context: RecallContext,
    write: WriteContext,
    user_id: str,
    content: str,
    metadata: StoreContext,
    now: datetime,
) -> StoreResult:
    """Store a statement.

    Args:
        context: The resources of the read path.
        write: The resources of the write path.
        user_id: The user.
        content: The statement, cleaned.
        metadata: Its metadata, validated.
        now: The current time, UTC.

    Raises:
        StoreError: If it could not be written.
    """
    english = is_english(content, context.expected_language)
    user = await context.database.read_all(queries.users.find, user_id) or NOBODY
    (encoded,), (doc,) = await asyncio.gather(
        asyncio.to_thread(encode_tokens, context.encoder, [content]),
        asyncio.to_thread(context.language.parse, [content if english else ""], names=False),
    )
    entities = find_entities(doc)
    tags, similar = await asyncio.gather(
        _tag(context, user, doc, metadata.tags),
        _find_similar(context, user, content, encoded.vector, english=english),
    )
    classification = _classify(doc, encoded.vector, tags, entities, metadata)
    memory = NewMemory(
        text=content,
        kind=classification.kind,
        category=classification.category,
        importance=classification.importance,
        tags=tags.given,
        found_tags=tags.found,
        tag_vectors=tags.vectors,
        tag_replacements=tags.replacements,
        entities=entities,
        expires_at=metadata.expires_at,
        source=metadata.source,
        note=metadata.note,
    )
    suggested = tuple(
        one
        for one in similar
        if one.same >= SUGGESTION_THRESHOLD and not differs_in_one_word(one.content, content)
    )
    recommendations = Recommendations((), similar, suggested, tags.replacements)
    equivalent = max(suggested, key=lambda one: one.same, default=None)
    if (
        equivalent is not None
        and equivalent.same >= MERGE_THRESHOLD
        and replace(metadata, tags=(), source=None) == StoreContext()
    ):
        reason = f"says the same as what is known, {equivalent.same:.0%} sure"
        if await write.storage.database.write(
            queries.new_memories.confirm, user, write.encoder_id, equivalent.id, memory, now, reason
        ):
            others = tuple(one for one in suggested if one is not equivalent)
            recommendations = replace(recommendations, suggested_merges=others)
            return StoreResult(True, equivalent.id, True, classification, recommendations)
    speaker = await context.database.read(queries.sessions.speaker, user)
    write = replace(write, reader=write.reader.in_foreground())
    read = await asyncio.to_thread(write.reader.read_note, content, speaker, now)
    revision = await find_revision(write, user, content, replace(read, lasting=1.0), speaker)
    stored = await write.storage.database.write_all(
        store_note,
        write.encoder_id,
        user_id,
        replace(memory, states=read.statements),
        encoded.vector,
        encoded.token_signs,
        now,
        _reason(classification, metadata),
        revision,
    )
    conflicts = tuple(_conflict(stored.id, one) for one in stored.revised)
    contradicted = {one.id for one in stored.revised}
    recommendations = replace(
        recommendations,
        conflicts=conflicts,
        suggested_merges=tuple(one for one in suggested if one.id not in contradicted),
    )
    return StoreResult(True, stored.id, False, classification, recommendations)


def _conflict(new_id: str, old: RevisedMemory) -> Conflict:
    """What became of a memory that a new one contradicts, and how to settle it."""
    take_back = Call("undo_decision", {"decision": old.decision}, "the old one still holds")
    return Conflict(
        advice=ConflictAdvice.UPDATE if old.ended else ConflictAdvice.CONFLICT,
        id=new_id,
        old_id=old.id,
        old_content=old.text,
        said_at=old.said_at,
        calls=(take_back,) if old.ended else settle(old.id),
    )


def _reason(classification: Classification, metadata: StoreContext) -> str:
    """The reason recorded with the decision how a memory was classified."""
    given = [
        name for name in ("kind", "category", "importance") if getattr(metadata, name) is not None
    ]
    sure = f"{classification.confidence:.0%} sure of the category"
    if classification.second is not None:
        sure = f"{sure}, {classification.second} next"
    origin = f"{' and '.join(given)} given, the rest found" if given else f"found by itself, {sure}"
    return (
        f"{classification.category}, {classification.kind},"
        f" importance {classification.importance} of 5: {origin}"
    )


async def _tag(context: RecallContext, user: UserKey, doc: Doc, requested: Sequence[str]) -> _Tags:
    """The tags of a statement: those requested, and those found in it."""
    named = tuple(dict.fromkeys(tag.strip().lower() for tag in requested))
    given = tuple(dict.fromkeys((*named, *circumstance_tags(doc.text))))
    keys = {tag_key(tag) for tag in given}
    found = tuple(tag for tag in extract_tags(doc) if tag_key(tag) not in keys)
    embeddable = (*named, *found)
    known, with_keys = await asyncio.gather(
        context.database.read(queries.tags.known, user, embeddable),
        context.database.read(queries.tags.with_keys, user, [tag_key(tag) for tag in found]),
    )
    same = {tag: name for tag in found if (name := with_keys.get(tag_key(tag), tag)) != tag}
    new = tuple(tag for tag in embeddable if tag not in known)
    if not new:
        return _Tags(given, found, {}, same)
    embedded, (existing, rows) = await asyncio.gather(
        asyncio.to_thread(context.encoder.encode, new),
        context.database.read(queries.tags.in_use, user, MAX_KNOWN_TAGS),
    )
    vectors = dict(zip(new, embedded, strict=True))
    replaceable = {tag: vectors[tag] for tag in new if tag not in (*named, *same)}
    return _Tags(given, found, vectors, match_tags(replaceable, existing, rows) | same)


async def _find_similar(
    context: RecallContext, user: UserKey, content: str, vector: Vector, *, english: bool
) -> tuple[SimilarMemory, ...]:
    """Similar memories that still hold, the most probably equivalent first.

    In another language than English only memories with the same words are equivalent.
    """
    words = stems(content, context.expected_language)
    encoder = context.former.encoder
    former = None if encoder is None else (await asyncio.to_thread(encoder.encode, [content]))[0]
    (nearest,) = await context.engine.search(
        user, VectorSearch(EvidenceKind.MEMORY, QueryVectors(vector, former), NEAREST_COMPARED)
    )
    cosines = {key: cosine for key, cosine in nearest if cosine >= SIMILAR_FROM}
    evidence = await context.database.read(
        queries.evidence.load, user, {EvidenceKind.MEMORY: list(cosines)}
    )
    similar = (
        SimilarMemory(
            id=one.memory_id or "",
            content=one.text,
            similarity=cosines[one.key],
            same=equivalence_probability(StatementPair(one.text, content, cosines[one.key]))
            if english
            else float(one.terms == words),
        )
        for one in evidence
        if one.key in cosines and one.valid_until is None
    )
    return tuple(sorted(similar, key=lambda one: -one.same))


def _classify(
    doc: Doc, vector: Vector, tags: _Tags, entities: Sequence[str], metadata: StoreContext
) -> Classification:
    """Classify a statement; what the metadata gives prevails.

    Standing instructions are rules in the category "system", and nothing else is. What is given as
    a reminder is in the category "reminders".
    """
    found = classify(doc, vector)
    if metadata.kind is Kind.RULE or (metadata.kind is None and is_instruction(doc)):
        found = replace(found, kind=Kind.RULE, category=Category.SYSTEM, confidence=1.0)
    elif found.kind is Kind.RULE and found.category is Category.SYSTEM:
        found = replace(found, kind=Kind.FACT)
    if metadata.kind is Kind.REMINDER:
        found = replace(found, category=Category.REMINDERS, confidence=1.0)
    confidence = found.confidence if metadata.category is None else 1.0
    return Classification(
        kind=metadata.kind or found.kind,
        category=metadata.category or found.category,
        tags=tags.effective,
        importance=metadata.importance or found.importance,
        confidence=confidence,
        concepts=tuple(dict.fromkeys((*entities, *content_terms(doc)))),
        sure=confidence >= MIN_CONFIDENCE,
        second=found.second if confidence < 1 else None,
    )


def match_tags(
    new: Mapping[str, Vector], existing: Sequence[str], rows: NDArray[np.float32]
) -> dict[str, str]:
    """Match new tags to existing tags of the same meaning.

    Args:
        new: New tags and their embeddings.
        existing: Existing tags.
        rows: Their embeddings, float32 (tags, dimension).

    Returns:
        The existing tag of each new tag that has one.
    """
    if not new or not existing:
        return {}
    vectors = np.stack(list(new.values()))
    if rows.shape[1] != vectors.shape[1]:
        return {}
    cosines = matmul(vectors, rows.T)
    nearest = (
        (tag, existing[place], float(row[place]))
        for tag, place, row in zip(new, np.argmax(cosines, axis=1).tolist(), cosines, strict=True)
    )
    return {
        tag: known
        for tag, known, cosine in nearest
        if cosine >= MIN_COSINE and same_meaning(tag, known, cosine)
    }


RECURRENCE: Final = re.compile(
    r"\b(?:every time|each time|any time|whenever|as soon as|always|usually|again|same)\b",
    re.IGNORECASE,
)
"""Words of a statement of what happens again and again."""

RECURRING_COSINE: Final = 0.38
"""Cosine from which two statements of what recurs are the same: "every time the token expires,
everyone is logged out", "as soon as the credentials time out, nobody can stay in"
(`python -m eval contextual`)."""

EQUAL_COSINE: Final = 0.85
"""Cosine from which any two statements are the same: nearly the same words."""

_COURTESY: Final = re.compile(r"\b(?:thanks?|bye|welcome)\b", re.IGNORECASE)
"""What many sessions share without meaning anything by it."""

MIN_SESSIONS: Final = 2
"""Number of sessions in which a statement must have been made."""

MIN_TERMS: Final = 3
"""Number of distinct word stems of a statement: shorter ones are courtesies."""


def find_repeated(passages: Sequence[Evidence]) -> tuple[RepeatedStatement, ...]:
    """Find statements that were made in several sessions.

    Each is represented by the wording that is nearly the same as in most sessions. A passage
    belongs to one statement at most.

    Args:
        passages: Passages of sessions on one theme.

    Returns:
        The statements, made in the most sessions first.
    """
    stated = [one for one in passages if _is_statement(one)]
    if not stated:
        return ()
    vectors = np.stack([one.vector for one in stated if one.vector is not None])
    recurring = np.array([bool(RECURRENCE.search(one.text)) for one in stated])
    limits = np.where(recurring & recurring[:, None], RECURRING_COSINE, EQUAL_COSINE)
    cosines = matmul(vectors, vectors.T)
    same = cosines >= limits
    np.fill_diagonal(same, val=True)
    left = np.ones(len(stated), dtype=bool)
    found: list[RepeatedStatement] = []
    while True:
        groups = [
            _nearest_of_each_session(stated, np.flatnonzero(same[row] & left), cosines[row])
            if left[row]
            else []
            for row in range(len(stated))
        ]
        centre = max(range(len(groups)), key=lambda row: len(groups[row]))
        if len(groups[centre]) < MIN_SESSIONS:
            return tuple(found)
        said = (
            Occurrence(one.session_id, one.turn_ids[0], one.text, one.said_at)
            for one in groups[centre]
        )
        found.append(RepeatedStatement(stated[centre].text, tuple(said)))
        left &= ~same[centre]


def _is_statement(one: Evidence) -> bool:
    """Whether a passage is a statement of the user's with an embedding of the present encoder."""
    return (
        one.role is Role.USER
        and one.vector is not None
        and not one.former
        and len(one.terms) >= MIN_TERMS
        and not one.text.rstrip().endswith("?")
        and not _COURTESY.search(one.text)
    )


def _nearest_of_each_session(
    stated: Sequence[Evidence], rows: NDArray[np.intp], cosines: NDArray[np.float32]
) -> list[Evidence]:
    """Of the statements in these rows the nearest in each session, oldest first."""
    by_session: dict[int, Evidence] = {}
    for row in sorted(rows, key=lambda row: -cosines[row]):
        by_session.setdefault(stated[row].session, stated[row])
    return sorted(by_session.values(), key=lambda one: one.said_at)
