"""trace_search: a search told step by step, and why something expected of it was found or was not.

The steps are those of `hotmem.operations.search`, which does the work; nothing is counted as
accessed.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

from hotmem.core.matmul import matmul
from hotmem.core.stage_timer import StageTimer
from hotmem.operations.requests import CLOSED, SearchOptions
from hotmem.operations.results import FoundItem, QueryAnalysis
from hotmem.operations.scoring import ScoredSearch, rejecting_option, score_candidates
from hotmem.operations.search import found_item, query_analysis
from hotmem.ranking.deduplication import deduplicate
from hotmem.ranking.features import FEATURES
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.recall import RecallContext, retrieve
from hotmem.retrieval.context import RecallRequest
from hotmem.storage import queries
from hotmem.text.stemming import stems
from hotmem.types import Evidence, EvidenceKind, Hit, Interval, Layer, LayerReport, LocatedRow

MAX_CONTRIBUTIONS: Final = 5
"""Features told of a result, those that move its relevance most."""

MAX_EXPECTED: Final = 5
"""Rows looked at that hold what was expected."""

MAX_EXPECTED_CHARACTERS: Final = 2000
"""Characters of what is expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceOptions(SearchOptions):
    """A search to be told.

    Attributes:
        expected: What should have been found: a memory's id, a turn's id, or words that it holds.
    """

    __pydantic_config__ = CLOSED

    expected: (
        Annotated[
            str,
            Field(
                min_length=1,
                max_length=MAX_EXPECTED_CHARACTERS,
                description="A memory's id, a turn's id, or words.",
            ),
        ]
        | None
    ) = None


@dataclass(frozen=True, slots=True)
class FeatureContribution:
    """A feature of a result.

    Its layer, if it is one's, its value, and what it adds to the logit of relevance.
    """

    feature: str
    layer: Layer | None
    value: float
    adds: float


@dataclass(frozen=True, slots=True)
class ExplainedResult:
    """A result and why: its relevance and confidence before the ranking's own weights, each layer's score, and the features that moved it most."""

    result: FoundItem
    relevance: float
    confidence: float
    layers: Mapping[Layer, float]
    why: tuple[FeatureContribution, ...]


@dataclass(frozen=True, slots=True)
class LayerRank:
    """Where a layer had something.

    Its place among the layer's hits of that kind, from 1, of how many, and the layer's own score.
    """

    place: int
    of: int
    score: float


@dataclass(frozen=True, slots=True)
class ExpectedOutcome:
    """What became of something that was expected.

    Attributes:
        id: The memory's or turn's id.
        content: The words.
        found: Whether it is among the results.
        reason: How it was found, or where it was lost and why, in a sentence.
        ranks: Where each layer had it.
        cosine: Of its meaning to the query's, -1 to 1; None while it is not embedded.
        words: The query's words that it holds.
        relevance: Its relevance, 0 to 1, if it was weighed.
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
    """A search, step by step.

    Attributes:
        analysis: What the query was taken to ask.
        time: The time it speaks of, UTC.
        layers: Each layer's hits, outcome and milliseconds.
        candidates: What was loaded and weighed, by its kind.
        dropped: How many candidates fell away, by reason.
        results: The results with their reasons, best first.
        expected: What became of what was expected; empty if nothing holds it, None if nothing was
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


async def explain(
    reader: RecallContext, request: RecallRequest, options: TraceOptions
) -> SearchTrace:
    """Does a search and tells how it went.

    Args:
        reader: The live parts of the read path.
        request: The query; its deadline and budget are not asked for.
        options: How to search, checked.
    """
    watch = StageTimer()
    found = await retrieve(reader, request, watch)
    weighed = await score_candidates(reader, found.query, found.profile, options, found.candidates)
    watch.mark("ranking")
    query = found.query
    located = (
        await reader.database.read(
            queries.diagnostics.located, query.user, options.expected, MAX_EXPECTED
        )
        if options.expected
        else []
    )
    keys = {kind: [one.key for one in located if one.kind is kind] for kind in EvidenceKind}
    loaded = (
        {
            (one.kind, one.key): one
            for one in await reader.database.read(queries.evidence.load, query.user, keys)
        }
        if located
        else {}
    )
    verdicts = tuple(
        _verdict(found.hits, weighed, one, loaded.get((one.kind, one.key)), options)
        for one in located
    )
    watch.mark("explaining")
    return SearchTrace(
        analysis=query_analysis(query),
        time=query.analysis.time,
        layers=found.reports,
        candidates=Counter(candidate.evidence.kind for candidate in weighed.candidates),
        dropped=_dropped(weighed, options),
        results=_traced(reader, weighed, options),
        expected=None if options.expected is None else verdicts,
        milliseconds=dict(watch.stages),
    )


def _dropped(weighed: ScoredSearch, options: SearchOptions) -> dict[str, int]:
    """How many candidates each step took away, in the order of the steps."""
    query = weighed.query
    refused = Counter(
        rejecting_option(one.evidence, weighed.filed(one.evidence), options, query.at)
        for one in weighed.judged
    )
    steps = {f"left out by {name}": count for name, count in refused.items() if name is not None}
    steps["said the same as a better one"] = weighed.merged
    steps[f"below the least relevance, {weighed.least:.2f}"] = len(weighed.statements) - len(
        weighed.ranked
    )
    steps[f"beyond the limit, {options.limit}"] = max(len(weighed.ranked) - options.limit, 0)
    return {name: count for name, count in steps.items() if count}


def _traced(
    reader: RecallContext, weighed: ScoredSearch, options: SearchOptions
) -> tuple[ExplainedResult, ...]:
    places = {
        (one.evidence.kind, one.evidence.key): row for row, one in enumerate(weighed.candidates)
    }
    found = []
    for score, one in weighed.ranked[: options.limit]:
        row = places[one.evidence.kind, one.evidence.key]
        values = weighed.table[row]
        adds = reader.model.contributions(
            values[None], [one.evidence.source], weighed.profile.weights
        )[0]
        reasons = [
            FeatureContribution(name, layer, float(values[at]), float(adds[at]))
            for at, (name, layer) in enumerate(FEATURES.items())
            if adds[at]
        ]
        why = tuple(sorted(reasons, key=lambda reason: -abs(reason.adds))[:MAX_CONTRIBUTIONS])
        found.append(
            ExplainedResult(
                found_item(weighed, score, one),
                one.relevance,
                one.confidence,
                weighed.candidates[row].scores,
                why,
            )
        )
    return tuple(found)


def _verdict(
    hits: Sequence[Hit],
    weighed: ScoredSearch,
    located: LocatedRow,
    evidence: Evidence | None,
    options: SearchOptions,
) -> ExpectedOutcome:
    query = weighed.query
    ranks = _ranks(hits, located)
    stored = None if evidence is None else evidence.vector
    sought = query.former if evidence is not None and evidence.former else query.vector
    cosine = (
        None
        if stored is None or sought is None
        else float(matmul(stored[None], sought[:, None])[0, 0])
    )
    held = evidence.terms if evidence is not None else stems(located.content)
    judged = next(
        (
            one
            for one in weighed.judged
            if (one.evidence.kind, one.evidence.key) == (located.kind, located.key)
        ),
        None,
    )
    found, reason = _outcome(hits, weighed, located, judged, ranks, cosine, options)
    words = tuple(term for term in query.topics if stems(term) <= held)
    return ExpectedOutcome(
        located.id,
        located.content,
        found,
        reason,
        ranks,
        cosine,
        words,
        None if judged is None else judged.relevance,
    )


def _outcome(
    hits: Sequence[Hit],
    weighed: ScoredSearch,
    located: LocatedRow,
    judged: ScoredCandidate | None,
    ranks: Mapping[Layer, LayerRank],
    cosine: float | None,
    options: SearchOptions,
) -> tuple[bool, str]:
    """Whether it is among the results, and the step that decided."""
    query = weighed.query
    if located.merged_into is not None:
        return (
            False,
            f"It went into the memory {located.merged_into}, which stands for it; undo_decision takes that back.",
        )
    if judged is None:
        if ranks:
            return (
                False,
                "Layers found it, but too far down to be weighed, or it is the question itself.",
            )
        if not located.embedded:
            return (
                False,
                "It is not embedded yet, and its words are not the query's. It will be once the background work is done.",
            )
        return False, f"No layer found it: {_nearest(hits, located.kind, cosine)}."
    option = rejecting_option(judged.evidence, weighed.filed(judged.evidence), options, query.at)
    if option is not None:
        return False, f"The option {option} leaves it out."
    place = next(
        (
            place
            for place, (_, one) in enumerate(weighed.ranked, 1)
            if one.evidence is judged.evidence
        ),
        None,
    )
    if place is not None:
        if place <= options.limit:
            return True, f"It is result {place} of {len(weighed.ranked)}."
        return False, f"It is result {place}, and the limit is {options.limit}."
    score = next(
        (
            score
            for score, one in zip(weighed.scores, weighed.statements, strict=True)
            if one.evidence is judged.evidence
        ),
        None,
    )
    if score is not None:
        return False, f"Its relevance is {score:.3f}, and the least is {weighed.least:.2f}."
    twin = next(
        (
            one
            for one in weighed.statements
            if len(deduplicate(sorted((one, judged), key=lambda each: -each.score))[0]) == 1
        ),
        None,
    )
    told = "" if twin is None else f" ({twin.evidence.memory_id or twin.evidence.turn_ids[0]})"
    return twin is not None and any(
        one is twin for _, one in weighed.ranked[: options.limit]
    ), f"It says the same as another statement{told}."


def _nearest(hits: Sequence[Hit], kind: EvidenceKind, cosine: float | None) -> str:
    """How far it was from being found by its meaning."""
    layer = Layer.SEMANTIC if kind is EvidenceKind.PASSAGE else Layer.FACTS
    scores = [hit.score for hit in hits if hit.layer is layer and hit.kind is kind]
    if cosine is None or not scores:
        return "it shares none of the words asked for"
    if layer is Layer.SEMANTIC:
        return (
            f"its cosine is {cosine:.2f}, that of the last of {len(scores)} found {min(scores):.2f}"
        )
    return f"its cosine is {cosine:.2f}, and {len(scores)} memories were nearer by words, meaning or names"


def _ranks(hits: Sequence[Hit], located: LocatedRow) -> dict[Layer, LayerRank]:
    """Where each layer had it."""
    ranks: dict[Layer, LayerRank] = {}
    for layer in Layer:
        own = [hit for hit in hits if hit.layer is layer and hit.kind is located.kind]
        place = next((place for place, hit in enumerate(own, 1) if hit.key == located.key), None)
        if place is not None:
            ranks[layer] = LayerRank(place, len(own), own[place - 1].score)
    return ranks
