"""Search for what a query asks for by kind, tag and time, apart from its words.

    hits of the layers + memories of the kind, tag or period ─▶ how far each matches ─▶ scores

A memory that does not match is not excluded where the query has a topic: its relevance counts
less. Without a topic the matching memories are the results, the latest first, reminders by the time
they are due.
"""

import asyncio
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np

from hotmem.core.matmul import matmul
from hotmem.operations.requests import SearchOptions
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.retrieval.context import RetrievalContext
from hotmem.storage import queries
from hotmem.storage.search.searches import VectorSearch
from hotmem.text.tag_keys import tag_key
from hotmem.types import (
    Category,
    Evidence,
    EvidenceKind,
    Hit,
    Kind,
    MemoryMetadata,
    Query,
    QueryVectors,
)
from hotmem.understanding.query.requested import Requested
from hotmem.understanding.query.requested_words import NOUNS, RequestedKind

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
