"""Results of the operations. Field names are the keys of the JSON that tools return."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from pydantic import TypeAdapter

from hotmem.types import Actor, Category, EvidenceKind, Interval, Kind, Layer, LayerReport, Rewrite
from hotmem.understanding.query.requested import Requested


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool.

    Attributes:
        tool: Name of the tool.
        arguments: Its arguments.
        effect: What it does, in a few words.
    """

    tool: str
    arguments: Mapping[str, Any]
    effect: str


class ConflictAdvice(StrEnum):
    """What became of a memory that a new one contradicts."""

    UPDATE = "update"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True)
class Conflict:
    """A stored memory that a new one contradicts.

    Attributes:
        advice: "update" if the new one replaced it, so that it has ended; "conflict" if that is
            not certain, so that it is possibly outdated until somebody decides.
        id: Id of the new memory.
        old_id: Id of the stored one.
        old_content: Text of the stored one.
        said_at: When it was last said or stored, UTC.
        calls: Calls that settle it or take it back.
    """

    advice: ConflictAdvice
    id: str
    old_id: str
    old_content: str
    said_at: datetime
    calls: tuple[Call, ...]


def settle(old_id: str) -> tuple[Call, ...]:
    """The calls that settle whether a memory that is possibly outdated still holds."""
    return (
        Call("edit_memory", {"id": old_id, "holds": False}, "the new one is right: end the old"),
        Call("edit_memory", {"id": old_id, "holds": True}, "both are right: keep the old"),
    )


@dataclass(frozen=True, slots=True)
class Classification:
    """Classification of a memory.

    Attributes:
        kind: The kind of statement.
        category: The category.
        tags: The tags.
        importance: 1 to 5.
        confidence: Probability, 0 to 1, that the category is right; 1 if it was given.
        concepts: Names and content words in it.
        sure: Whether the confidence is high enough to need no review.
        second: The next most probable category; None if the category was given.
    """

    kind: Kind
    category: Category
    tags: tuple[str, ...]
    importance: int
    confidence: float
    concepts: tuple[str, ...]
    sure: bool
    second: Category | None = None


@dataclass(frozen=True, slots=True)
class SimilarMemory:
    """A memory similar to the new one.

    Attributes:
        id: Its id.
        content: Its text.
        similarity: Cosine of the embeddings, -1 to 1.
        same: Probability, 0 to 1, that both state the same.
    """

    id: str
    content: str
    similarity: float
    same: float


@dataclass(frozen=True, slots=True)
class Recommendations:
    """Suggestions for maintenance.

    Attributes:
        conflicts: Memories that the new one contradicts.
        similar_memories: Memories similar to the new one, the most similar first.
        suggested_merges: Those that may state the same, for the user to decide.
        tag_consolidations: New tags, and the existing tags that replace them.
    """

    conflicts: tuple[Conflict, ...] = ()
    similar_memories: tuple[SimilarMemory, ...] = ()
    suggested_merges: tuple[SimilarMemory, ...] = ()
    tag_consolidations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoreResult:
    """Result of storing a memory.

    Attributes:
        success: Always True; a failure raises an error.
        id: The id of the memory, or of the existing one that it confirmed.
        merged: Whether it confirmed an existing memory instead of being stored.
        analysis: Its classification.
        recommendations: Suggestions for maintenance.
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
        content: The text.
        content_type: A memory's kind, or "turn" or "summary".
        relevance_score: Its relevance, 0 to 1.
        matched_concepts: The words of the query that it contains.
        category: A memory's category.
        subcategory: The name of a memory's subcategory, if it has one.
        importance: A memory's importance, 1 to 5.
        created: When it was said or stored, UTC.
        last_accessed: When a search last returned it, UTC, if ever.
        sources: The layers that found it.
        turn_ids: The turns that it comes from.
        holds: Whether it still holds.
        doubted_at: When something said later made it possibly outdated, UTC, if it did.
        times: The times that it mentions, UTC, in order.
        past: Whether it is a plan or a reminder whose time is over.
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
    doubted_at: datetime | None = None
    times: tuple[Interval, ...] = ()
    past: bool = False


@dataclass(frozen=True, slots=True)
class QueryAnalysis:
    """Analysis of a query.

    Attributes:
        concepts: Its content words and names.
        scope: Its intent: "fact", "time", "pattern" and so on.
        expansions: Words added from the live session to resolve references.
        rewrite: The rewriter's result, if one is configured.
        requested: What it asks for by kind, tag or time, and the topic that remains; None if it
            asks by words alone, or nothing that it asks for is stored.
    """

    concepts: tuple[str, ...]
    scope: str
    expansions: tuple[str, ...]
    rewrite: Rewrite | None
    requested: Requested | None = None


@dataclass(frozen=True, slots=True)
class SourceReport:
    """Number of results that a layer found, and their mean relevance."""

    count: int
    mean_score: float


@dataclass(frozen=True, slots=True)
class SearchDebug:
    """Diagnostics of a search.

    Attributes:
        sources: A report on each layer.
        duplicates_before: Number of statements before deduplication.
        duplicates_after: Number of distinct statements.
        duplicates_removed: Number of statements merged into a better one.
        weights: The layer weights.
        milliseconds: Time of each stage.
    """

    sources: Mapping[Layer, SourceReport]
    duplicates_before: int
    duplicates_after: int
    duplicates_removed: int
    weights: Mapping[Layer, float]
    milliseconds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Result of a search.

    Attributes:
        results: The results, most relevant first.
        total_found: Number of statements with a relevance of at least 0.1, including those beyond
            the limit. Results below 0.1 may be listed as well.
        query_analysis: The analysis of the query.
        debug: Diagnostics, if requested.
    """

    results: tuple[FoundItem, ...]
    total_found: int
    query_analysis: QueryAnalysis
    debug: SearchDebug | None = None


@dataclass(frozen=True, slots=True)
class FeatureContribution:
    """Contribution of a feature to the relevance of a result.

    Attributes:
        feature: The feature.
        layer: Its layer, if it belongs to one.
        value: Its value.
        adds: What it adds to the logit of relevance.
    """

    feature: str
    layer: Layer | None
    value: float
    adds: float


@dataclass(frozen=True, slots=True)
class ExplainedResult:
    """A result, and how it was ranked.

    Attributes:
        result: The result.
        relevance: Its relevance before the weights of the search options, 0 to 1.
        confidence: Its confidence, 0 to 1.
        layers: The score of each layer that found it.
        why: The features that contributed most, by magnitude.
    """

    result: FoundItem
    relevance: float
    confidence: float
    layers: Mapping[Layer, float]
    why: tuple[FeatureContribution, ...]


@dataclass(frozen=True, slots=True)
class LayerRank:
    """Rank of a statement in a layer.

    Attributes:
        place: Its rank among the layer's hits of its kind, from 1.
        of: Number of those hits.
        score: The layer's score.
    """

    place: int
    of: int
    score: float


@dataclass(frozen=True, slots=True)
class ExpectedOutcome:
    """What became of an expected statement.

    Attributes:
        id: The id of the memory or turn.
        content: The text.
        found: Whether it is among the results.
        reason: How it was found, or at which step it was lost and why, in a sentence.
        ranks: Its rank in each layer that found it.
        cosine: Cosine of its embedding to the query's, -1 to 1; None if it is not yet embedded.
        words: The words of the query that it contains.
        relevance: Its relevance, 0 to 1, if it was ranked.
    """

    id: str
    content: str
    found: bool
    reason: str
    ranks: Mapping[Layer, LayerRank]
    cosine: float | None
    words: tuple[str, ...]
    relevance: float | None


@dataclass(frozen=True, slots=True)
class SearchTrace:
    """Trace of a search.

    Attributes:
        analysis: The analysis of the query.
        time: The time that it names, UTC.
        layers: A report on each layer.
        candidates: Number of candidates by kind.
        dropped: Number of candidates dropped, by reason.
        results: The results, best first, and how they were ranked.
        expected: The outcome of each statement that matches what was expected; None if nothing was
            expected.
        milliseconds: Time of each stage.
    """

    analysis: QueryAnalysis
    time: Interval | None
    layers: tuple[LayerReport, ...]
    candidates: Mapping[EvidenceKind, int]
    dropped: Mapping[str, int]
    results: tuple[ExplainedResult, ...]
    expected: tuple[ExpectedOutcome, ...] | None
    milliseconds: Mapping[str, float]


def as_json(result: object) -> Any:  # noqa: ANN401 - any JSON value
    """Convert a result to JSON values: times in ISO 8601, enumerations by value."""
    return TypeAdapter(type(result)).dump_python(result, mode="json")


_ACTOR: Final[ContextVar[Actor]] = ContextVar("hotmem_actor", default=Actor.PROGRAM)


@contextmanager
def acting(actor: Actor) -> Iterator[None]:
    """Set the actor within a block, and in tasks that are started in it."""
    token = _ACTOR.set(actor)
    try:
        yield
    finally:
        _ACTOR.reset(token)


def actor() -> Actor:
    """The current actor; a program unless one was set."""
    return _ACTOR.get()
