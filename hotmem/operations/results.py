"""What the tools answer, as data; outside Python the same names are the keys of a JSON object."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import TypeAdapter

from hotmem.types import Category, Kind, Layer, Rewrite


@dataclass(frozen=True, slots=True)
class Classification:
    """Where a memory was filed.

    Attributes:
        kind: What sort of statement it is.
        category: Where it belongs.
        tags: Words it is filed under.
        importance: 1 to 5.
        confidence: Probability, 0 to 1, that the category is right; 1 where it was given.
        concepts: Names and content words in it.
        sure: Whether the confidence is high enough to leave it at that.
    """

    kind: Kind
    category: Category
    tags: tuple[str, ...]
    importance: int
    confidence: float
    concepts: tuple[str, ...]
    sure: bool


@dataclass(frozen=True, slots=True)
class SimilarMemory:
    """A memory like the new one.

    Attributes:
        id: The memory's id.
        content: Its words.
        similarity: Cosine of their meanings, -1 to 1.
        same: Probability, 0 to 1, that both say the same.
    """

    id: str
    content: str
    similarity: float
    same: float


@dataclass(frozen=True, slots=True)
class Recommendations:
    """What may be put in order.

    Attributes:
        similar_memories: Memories like the new one, the most alike first.
        suggested_merges: Those among them that may say the same, for the user to decide.
        tag_consolidations: Tags that mean the same: what was found, and what stands for it already.
    """

    similar_memories: tuple[SimilarMemory, ...] = ()
    suggested_merges: tuple[SimilarMemory, ...] = ()
    tag_consolidations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoreResult:
    """What became of a memory to be stored.

    Attributes:
        success: Whether it is kept; always, where nothing is raised.
        id: The memory's id; of the one that said it already, if there was one.
        merged: Whether it said what a memory said already, and confirmed that one instead.
        analysis: Where it was filed.
        recommendations: What may be put in order.
    """

    success: bool
    id: str
    merged: bool
    analysis: Classification
    recommendations: Recommendations


@dataclass(frozen=True, slots=True)
class FoundItem:
    """One result of a search.

    Attributes:
        id: The memory's id, the turn's id, or the session's for a summary.
        content: The words.
        content_type: A memory's kind, or "turn" or "summary".
        relevance_score: How relevant it is, 0 to 1.
        matched_concepts: The query's words that it holds.
        category: A memory's category.
        subcategory: The name of its place in its category, if that has evolved.
        importance: A memory's importance, 1 to 5.
        created: When it was said or stored, UTC.
        last_accessed: When it was last given out, UTC, if ever.
        sources: The layers that found it.
        turn_ids: The turns it comes from.
        holds: Whether it still holds.
    """

    id: str
    content: str
    content_type: str
    relevance_score: float
    matched_concepts: tuple[str, ...]
    category: Category | None
    subcategory: str | None
    importance: int | None
    created: datetime
    last_accessed: datetime | None
    sources: tuple[Layer, ...]
    turn_ids: tuple[str, ...]
    holds: bool


@dataclass(frozen=True, slots=True)
class QueryAnalysis:
    """What a query was taken to ask.

    Attributes:
        concepts: Its content words and names.
        scope: What it is after: "fact", "time", "pattern" and so on.
        expansions: Words that it leaves unsaid, from the live session.
        rewrite: What a language model made of it, if one was asked.
    """

    concepts: tuple[str, ...]
    scope: str
    expansions: tuple[str, ...]
    rewrite: Rewrite | None


@dataclass(frozen=True, slots=True)
class SourceReport:
    """How many results a layer found, and their mean relevance."""

    count: int
    mean_score: float


@dataclass(frozen=True, slots=True)
class SearchDebug:
    """How a search came about.

    Attributes:
        sources: What each layer found of the results.
        duplicates_before: Statements weighed.
        duplicates_after: Distinct ones among them.
        duplicates_removed: Those that said the same as a better one.
        weights: The layer weights used.
        milliseconds: Time of each stage.
    """

    sources: Mapping[Layer, SourceReport]
    duplicates_before: int
    duplicates_after: int
    duplicates_removed: int
    weights: Mapping[Layer, float]
    milliseconds: Mapping[str, float]


class Tier(StrEnum):
    """What a progressive search looks through, from the abstract to the detailed."""

    DIGESTS = "digests"
    MEMORIES = "memories"
    SUMMARIES = "summaries"
    TURNS = "turns"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a progressive search went.

    Attributes:
        searched: The tiers searched, in order.
        stopped_early: Whether tiers were left out because enough was found.
        reason: Why it ended, in a sentence.
        milliseconds: Time of each tier.
    """

    searched: tuple[Tier, ...]
    stopped_early: bool
    reason: str
    milliseconds: Mapping[Tier, float]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found.

    Attributes:
        results: The best, most relevant first.
        total_found: How many have a relevance of at least 0.1, those beyond the limit among them.
            Results below it may be listed as well.
        query_analysis: What the query was taken to ask.
        progress: How far it went, if it was progressive.
        debug: How it came about, if that was asked for.
    """

    results: tuple[FoundItem, ...]
    total_found: int
    query_analysis: QueryAnalysis
    progress: Progress | None = None
    debug: SearchDebug | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A turn in its place.

    Attributes:
        turn_id: Its id.
        speaker: Who said it.
        content: The words.
        at: When, UTC.
        relevance_score: How relevant it is itself, 0 to 1.
    """

    turn_id: str
    speaker: str
    content: str
    at: datetime
    relevance_score: float


@dataclass(frozen=True, slots=True)
class SessionFound:
    """A session and what was said in it.

    Attributes:
        session_id: Its id.
        last_spoken: When it was last spoken in, UTC.
        relevance_score: That of its best message, 0 to 1.
        summary: What it was about, as far as it is summarised.
        messages: The best messages with their neighbours, in order.
        related: Sessions that speak of the same people and things.
    """

    session_id: str
    last_spoken: datetime
    relevance_score: float
    summary: str
    messages: tuple[Message, ...]
    related: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContextualResult:
    """What a search through the sessions found: the best sessions first."""

    sessions: tuple[SessionFound, ...]
    query_analysis: QueryAnalysis


def as_json(result: object) -> Any:  # noqa: ANN401 - whatever JSON holds
    """A result as JSON holds it: times in ISO 8601, enumerations by their value."""
    return TypeAdapter(type(result)).dump_python(result, mode="json")
