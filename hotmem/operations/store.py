"""store_memory: a statement is filed, tagged, compared with what is known, and kept, or confirms what is known.

    content ─┬▶ embedding ─┬▶ what is like it ─┬▶ kept or confirmed
             └▶ parse ─────┴▶ tags, filing ────┘

What is given besides the words (a category, an expiry, a note) is never lost in another memory:
then a merge is suggested only.
"""

import asyncio
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
from hotmem.core.matmul import matmul
from hotmem.models import encode_tokens
from hotmem.operations.requests import StoreContext
from hotmem.operations.results import Classification, Recommendations, SimilarMemory, StoreResult
from hotmem.recall import RecallContext
from hotmem.retrieval.query import NOBODY
from hotmem.storage import Storage, queries
from hotmem.storage.search.searches import VectorSearch
from hotmem.types import Category, EvidenceKind, Kind, NewMemory, QueryVectors, UserKey, Vector
from hotmem.types.parse import Doc
from hotmem.understanding.facts import tags as tagging
from hotmem.understanding.facts.classification import MIN_CONFIDENCE, classify
from hotmem.understanding.facts.instructions import is_instruction
from hotmem.understanding.query.analyzer import content_terms
from hotmem.understanding.query.entities import find_entities

NEAREST_COMPARED: Final = 3
"""Nearest memories that are compared word by word. Of 207 that say the same as a new one, among
6,400 others, 203 are among them, 181 the nearest."""

SIMILAR_FROM: Final = 0.45
"""Cosine from which a memory may be like another. Of 207 pairs that say the same 3 are below."""

MAX_KNOWN_TAGS: Final = 500
"""Tags in use, the most recent, that a new one is compared with."""


@dataclass(frozen=True, slots=True)
class _Tags:
    """The tags of a statement, the embeddings of those that are not in use, and which of these are taken to be which in use."""

    tags: tuple[str, ...]
    vectors: Mapping[str, Vector]
    taken: Mapping[str, str]

    @property
    def shown(self) -> tuple[str, ...]:
        """The tags as they are told: those in use for those that they stand for."""
        return tuple(dict.fromkeys(self.taken.get(tag, tag) for tag in self.tags))


async def store(
    reader: RecallContext,
    writer: Storage,
    user_id: str,
    content: str,
    context: StoreContext,
    now: datetime,
) -> StoreResult:
    """Keeps a statement.

    Args:
        reader: The live parts of the read path.
        writer: The store that writes.
        user_id: Whose memory.
        content: The statement, cleaned.
        context: What is known of it, checked.
        now: When it is stored, UTC.

    Raises:
        StoreError: If it could not be written.
    """
    encoder_id = queries.encoders.identified(reader.encoder.name, reader.encoder.dimension)
    user = await reader.database.read(queries.users.find, user_id) or NOBODY
    (reading,), (doc,) = await asyncio.gather(
        asyncio.to_thread(encode_tokens, reader.encoder, [content]),
        asyncio.to_thread(reader.language.parse, [content], names=False),
    )
    row = reading.vector
    entities = find_entities(doc)
    tagged, similar = await asyncio.gather(
        _tag(reader, user, doc, context.tags), _find_similar(reader, user, content, row)
    )
    filing = _classify(doc, row, tagged, entities, context)
    note = NewMemory(
        text=content,
        kind=filing.kind,
        category=filing.category,
        importance=filing.importance,
        tags=tagged.tags,
        tag_vectors=tagged.vectors,
        tag_replacements=tagged.taken,
        entities=entities,
        expires_at=context.expires_at,
        source=context.source,
        note=context.note,
    )
    suggested = tuple(
        one
        for one in similar
        if one.same >= SUGGESTION_THRESHOLD and not differs_in_one_word(one.content, content)
    )
    recommendations = Recommendations(similar, suggested, tagged.taken)
    twin = max(suggested, key=lambda one: one.same, default=None)
    if (
        twin is not None
        and twin.same >= MERGE_THRESHOLD
        and replace(context, tags=(), source=None) == StoreContext()
    ):
        reason = f"says the same as what is known, {twin.same:.0%} sure"
        if await writer.database.write(
            queries.embedding.confirm_memory, user, encoder_id, twin.id, note, now, reason
        ):
            return StoreResult(True, twin.id, True, filing, recommendations)
    given = [
        name for name in ("kind", "category", "importance") if getattr(context, name) is not None
    ]
    reason = f"{filing.category}, {filing.kind}, importance {filing.importance} of 5: " + (
        f"{' and '.join(given)} given, the rest found"
        if given
        else f"found by itself, {filing.confidence:.0%} sure of the category"
    )
    return StoreResult(
        True,
        await writer.database.write(
            queries.embedding.insert_memory,
            encoder_id,
            user_id,
            note,
            row,
            reading.token_signs,
            now,
            reason,
        ),
        False,
        filing,
        recommendations,
    )


async def _tag(reader: RecallContext, user: UserKey, doc: Doc, asked: Sequence[str]) -> _Tags:
    """The statement's tags: those asked for, and those found."""
    found, given = (
        tagging.extract_tags(doc),
        tuple(dict.fromkeys(tag.strip().lower() for tag in asked)),
    )
    tags = tuple(dict.fromkeys((*given, *found, *tagging.circumstance_tags(doc.text))))
    named = (*given, *found)
    known = await reader.database.read(queries.tags.known, user, named)
    new = tuple(dict.fromkeys(tag for tag in named if tag not in known))
    if not new:
        return _Tags(tags, {}, {})
    embedded, (in_use, rows) = await asyncio.gather(
        asyncio.to_thread(reader.encoder.encode, new),
        reader.database.read(queries.tags.in_use, user, MAX_KNOWN_TAGS),
    )
    vectors = dict(zip(new, embedded, strict=True))
    return _Tags(
        tags,
        vectors,
        match_tags({tag: vectors[tag] for tag in new if tag not in given}, in_use, rows),
    )


async def _find_similar(
    reader: RecallContext, user: UserKey, content: str, row: Vector
) -> tuple[SimilarMemory, ...]:
    """The memories like the statement that still hold, those first that say the same."""
    before = reader.former.encoder
    former = None if before is None else (await asyncio.to_thread(before.encode, [content]))[0]
    (nearest,) = await reader.engine.search(
        user, VectorSearch(EvidenceKind.MEMORY, QueryVectors(row, former), NEAREST_COMPARED)
    )
    cosines = {key: cosine for key, cosine in nearest if cosine >= SIMILAR_FROM}
    known = await reader.database.read(
        queries.evidence.load, user, {EvidenceKind.MEMORY: list(cosines)}
    )
    near = [one for one in known if one.key in cosines and one.valid_until is None]
    similar = (
        SimilarMemory(
            one.memory_id or "",
            one.text,
            cosines[one.key],
            equivalence_probability(StatementPair(one.text, content, cosines[one.key])),
        )
        for one in near
    )
    return tuple(sorted(similar, key=lambda one: -one.same))


def _classify(
    doc: Doc, row: Vector, tagged: _Tags, entities: Sequence[str], context: StoreContext
) -> Classification:
    """Where it belongs: as was asked for, the rest as was found.

    Standing instructions are rules of the system, and nothing else is.
    """
    filed = classify(doc, row)
    if context.kind is Kind.RULE or (context.kind is None and is_instruction(doc)):
        filed = replace(filed, kind=Kind.RULE, category=Category.SYSTEM, confidence=1.0)
    elif filed.kind is Kind.RULE and filed.category is Category.SYSTEM:
        filed = replace(filed, kind=Kind.FACT)
    confidence = filed.confidence if context.category is None else 1.0
    return Classification(
        kind=context.kind or filed.kind,
        category=context.category or filed.category,
        tags=tagged.shown,
        importance=context.importance or filed.importance,
        confidence=confidence,
        concepts=tuple(dict.fromkeys((*entities, *content_terms(doc)))),
        sure=confidence >= MIN_CONFIDENCE,
    )


def match_tags(
    new: Mapping[str, Vector], in_use: Sequence[str], rows: NDArray[np.float32]
) -> dict[str, str]:
    """For each new tag that means the same as one in use, that one.

    From 0.7, the design's, half are of other things: of 54 pairs of nouns and names between 0.7 and
    0.8 in nine conversations 26 are as "tennis" and "badminton".

    Args:
        new: Tags that are not in use, and their embeddings.
        in_use: Tags in use.
        rows: Their embeddings, float32 (tags, dimension).
    """
    if not new or not in_use:
        return {}
    found = np.stack(list(new.values()))
    if rows.shape[1] != found.shape[1]:
        return {}
    likeness = matmul(found, rows.T)
    best = np.argmax(likeness, axis=1)
    near = (
        (tag, in_use[place], float(row[place]))
        for tag, place, row in zip(new, best.tolist(), likeness, strict=True)
    )
    return {
        tag: known
        for tag, known, cosine in near
        if cosine >= MIN_COSINE and same_meaning(tag, known, cosine)
    }
