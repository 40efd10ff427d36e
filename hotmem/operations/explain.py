"""trace_search: a search explained step by step, and why an expected statement was found or lost.

The steps are those of `hotmem.operations.search`; results are not counted as accessed.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from hotmem.core.timing import StageTimer
from hotmem.core.validation import counted
from hotmem.core.vector_math import matmul
from hotmem.operations.requests import SearchOptions, TraceOptions
from hotmem.operations.results import (
    ExpectedOutcome,
    ExplainedResult,
    FeatureContribution,
    LayerRank,
    SearchTrace,
)
from hotmem.operations.scoring import ScoredSearch, rejecting_option
from hotmem.operations.search import found_item, query_analysis, retrieve_and_score
from hotmem.ranking.features import FEATURES
from hotmem.ranking.neighbors import deduplicate
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.recall import RecallContext
from hotmem.retrieval.context import RecallRequest
from hotmem.storage import queries
from hotmem.text.stemming import stems
from hotmem.types import Evidence, EvidenceKind, Hit, Layer, LocatedRow

MAX_CONTRIBUTIONS: Final = 5
"""Number of features listed for a result, those that contribute most."""

MAX_EXPECTED: Final = 5
"""Limit of statements that match what was expected."""


async def explain(
    context: RecallContext, request: RecallRequest, options: TraceOptions
) -> SearchTrace:
    """Search, and explain how the results came about.

    Args:
        context: The resources of the read path.
        request: The query; its deadline and budget are ignored.
        options: Options of the search, validated.
    """
    timer = StageTimer()
    retrieved, scored = await retrieve_and_score(context, request, options, timer)
    query = retrieved.query
    outcomes = None
    if options.expected is not None:
        located = await context.database.read(
            queries.job_failures.located, query.user, options.expected, MAX_EXPECTED
        )
        outcomes = await _outcomes(context, retrieved.hits, scored, located, options)
    timer.mark("explaining")
    return SearchTrace(
        analysis=query_analysis(query, scored.requested),
        time=query.analysis.time,
        layers=retrieved.reports,
        candidates=Counter(candidate.evidence.kind for candidate in scored.candidates),
        dropped=_dropped(scored, options),
        results=_explain_results(context, scored, options),
        expected=outcomes,
        milliseconds=dict(timer.stages),
    )


def _dropped(scored: ScoredSearch, options: SearchOptions) -> dict[str, int]:
    """Number of candidates that each step dropped, in the order of the steps."""
    query = scored.query
    rejected = Counter(
        rejecting_option(one.evidence, scored.metadata_of(one.evidence), options, query.at)
        for one in scored.ranked
    )
    steps = {f"excluded by {name}": count for name, count in rejected.items() if name is not None}
    steps["duplicates of a better candidate"] = scored.merged
    steps[f"below the minimum relevance of {scored.min_relevance:.2f}"] = len(
        scored.statements
    ) - len(scored.results)
    steps[f"beyond the limit of {options.limit}"] = max(len(scored.results) - options.limit, 0)
    return {name: count for name, count in steps.items() if count}


def _explain_results(
    context: RecallContext, scored: ScoredSearch, options: SearchOptions
) -> tuple[ExplainedResult, ...]:
    rows = {
        (candidate.evidence.kind, candidate.evidence.key): row
        for row, candidate in enumerate(scored.candidates)
    }
    results = []
    for score, one in scored.results[: options.limit]:
        row = rows[one.evidence.kind, one.evidence.key]
        values = scored.features[row]
        (added,) = context.model.contributions(
            values[None], [one.evidence.source], scored.profile.weights
        )
        contributions = [
            FeatureContribution(name, layer, float(value), float(adds))
            for (name, layer), value, adds in zip(FEATURES.items(), values, added, strict=True)
            if adds
        ]
        results.append(
            ExplainedResult(
                result=found_item(scored, score, one),
                relevance=one.relevance,
                confidence=one.confidence,
                layers=scored.candidates[row].scores,
                why=tuple(
                    sorted(contributions, key=lambda each: -abs(each.adds))[:MAX_CONTRIBUTIONS]
                ),
            )
        )
    return tuple(results)


async def _outcomes(
    context: RecallContext,
    hits: Sequence[Hit],
    scored: ScoredSearch,
    located: Sequence[LocatedRow],
    options: SearchOptions,
) -> tuple[ExpectedOutcome, ...]:
    """The outcome of each row that matches what was expected."""
    if not located:
        return ()
    keys = {kind: [row.key for row in located if row.kind is kind] for kind in EvidenceKind}
    evidence = {
        (one.kind, one.key): one
        for one in await context.database.read(queries.evidence.load, scored.query.user, keys)
    }
    return tuple(
        _outcome(hits, scored, row, evidence.get((row.kind, row.key)), options) for row in located
    )


def _outcome(
    hits: Sequence[Hit],
    scored: ScoredSearch,
    row: LocatedRow,
    evidence: Evidence | None,
    options: SearchOptions,
) -> ExpectedOutcome:
    query = scored.query
    terms = evidence.terms if evidence is not None else stems(row.content, query.index_language)
    key = row.kind, row.key
    ranked = (one for one in scored.ranked if (one.evidence.kind, one.evidence.key) == key)
    candidate, ranks = next(ranked, None), _ranks(hits, row)
    cosine = None if evidence is None else _cosine(scored, evidence)
    if row.merged_into is not None:
        found, reason = False, _merged(row.id, row.merged_into)
    elif candidate is None:
        found, reason = False, _not_retrieved(hits, row, cosine, ranked=bool(ranks))
    else:
        found, reason = _decision(scored, candidate, options)
    return ExpectedOutcome(
        id=row.id,
        content=row.content,
        found=found,
        reason=reason,
        ranks=ranks,
        cosine=cosine,
        words=tuple(term for term in query.topics if stems(term, query.index_language) <= terms),
        relevance=None if candidate is None else candidate.relevance,
    )


def _cosine(scored: ScoredSearch, evidence: Evidence) -> float | None:
    """Cosine of a statement to the query; None if it is not yet embedded."""
    vector = scored.query.former if evidence.former else scored.query.vector
    if evidence.vector is None or vector is None:
        return None
    return float(matmul(evidence.vector[None], vector[:, None])[0, 0])


def _merged(name: str, into: str) -> str:
    """Why a row that was merged into a memory, or withdrawn, is not among the candidates."""
    if into == name:
        return (
            "It was withdrawn: the decision that stored it was undone. memory_decisions lists the "
            "undoing, which can be undone."
        )
    return f"It was merged into memory {into}; undo_decision reverts the merge."


def _decision(
    scored: ScoredSearch, candidate: ScoredCandidate, options: SearchOptions
) -> tuple[bool, str]:
    """Whether an expected candidate is among the results, and the step that decided."""
    evidence = candidate.evidence
    option = rejecting_option(evidence, scored.metadata_of(evidence), options, scored.query.at)
    if option is not None:
        return False, f"The option {option} excludes it."
    for place, (_, one) in enumerate(scored.results, 1):
        if one.evidence is evidence:
            if place <= options.limit:
                return True, f"It is result {place} of {len(scored.results)}."
            return False, f"It is result {place}, and the limit is {options.limit}."
    for score, one in zip(scored.scores, scored.statements, strict=True):
        if one.evidence is evidence:
            return False, (
                f"Its relevance is {score:.3f}, and the minimum is {scored.min_relevance:.2f}."
            )
    duplicate = next(
        (
            one
            for one in scored.statements
            if len(deduplicate(sorted((one, candidate), key=lambda each: -each.score))[0]) == 1
        ),
        None,
    )
    if duplicate is None:
        return False, "It repeats another statement."
    name = duplicate.evidence.memory_id or duplicate.evidence.turn_ids[0]
    listed = any(one is duplicate for _, one in scored.results[: options.limit])
    return listed, f"It repeats another statement ({name})."


def _not_retrieved(
    hits: Sequence[Hit], row: LocatedRow, cosine: float | None, *, ranked: bool
) -> str:
    """Why a row is not among the candidates."""
    if ranked:
        return "Layers found it, but at too low a rank to be loaded, or it is the query itself."
    if not row.embedded:
        return (
            "It is not embedded yet, and shares no word with the query."
            " It will be embedded by the background work."
        )
    kind = row.kind
    layer = Layer.SEMANTIC if kind is EvidenceKind.PASSAGE else Layer.FACTS
    scores = [hit.score for hit in hits if hit.layer is layer and hit.kind is kind]
    if cosine is None or not scores:
        return "No layer found it: it shares no word with the query."
    if layer is Layer.SEMANTIC:
        return (
            f"No layer found it: its cosine is {cosine:.2f},"
            f" that of the last of {len(scores)} hits is {min(scores):.2f}."
        )
    return (
        f"No layer found it: its cosine is {cosine:.2f},"
        f" and {counted(len(scores), 'memory', 'memories')} ranked higher by words, embedding or"
        " entities."
    )


def _ranks(hits: Sequence[Hit], row: LocatedRow) -> dict[Layer, LayerRank]:
    """The rank of a row in each layer that found it."""
    ranks: dict[Layer, LayerRank] = {}
    for layer in Layer:
        own = [hit for hit in hits if hit.layer is layer and hit.kind is row.kind]
        place = next((place for place, hit in enumerate(own, 1) if hit.key == row.key), None)
        if place is not None:
            ranks[layer] = LayerRank(place, len(own), own[place - 1].score)
    return ranks
