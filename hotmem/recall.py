"""READ FIRST: utterance → block, one line a stage."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hotmem.block.packing import Packed, pack
from hotmem.block.rendering import nothing_known
from hotmem.core.stage_timer import StageTimer
from hotmem.errors import DeadlineExceeded
from hotmem.feedback.weights import for_intent
from hotmem.ranking.answerability import Answerability
from hotmem.ranking.features import features
from hotmem.ranking.ranker import deduplicate, rank
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.retrieval.candidates import load_candidates
from hotmem.retrieval.context import RecallContext, RecallRequest
from hotmem.retrieval.fanout import ask
from hotmem.retrieval.fusion import Candidate
from hotmem.retrieval.query import build_query
from hotmem.types import (
    NO_OFFSET,
    ContextBlock,
    Hit,
    LayerOutcome,
    LayerReport,
    Profile,
    Query,
    Trace,
)

QUERY_SHARE: Final = 0.4
LAYERS_SHARE: Final = 0.8
"""Parts of the deadline after which the query must be read and the layers are no longer waited
for; the rest is for composing."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was asked and what was found, before it is weighed.

    Attributes:
        query: The analysed utterance.
        profile: What is known of who asks.
        candidates: What came of the most promising hits and the language model lacks.
        reports: What each layer did.
        hits: What each layer found.
        already_visible: What the language model has before it already.
    """

    query: Query
    profile: Profile
    candidates: Sequence[Candidate]
    reports: tuple[LayerReport, ...]
    hits: Sequence[Hit] = ()
    already_visible: Sequence[Candidate] = ()


async def recall(reader: RecallContext, request: RecallRequest) -> ContextBlock:
    """The context block for an utterance.

    With a deadline it is there in time, with less if need be.

    It waits for little and computes much: `hotmem.Memory` runs it in its lane, where it holds up no
    bot.
    """
    watch = StageTimer(request.deadline_ms, request.asked_at)
    try:
        found = await retrieve(reader, request, watch)
    except (TimeoutError, DeadlineExceeded):
        return late(request, watch.stages)
    packed, merged, known, reason = compose(reader, request, found)
    watch.mark("context")
    query = found.query
    cut_short = any(report.outcome is LayerOutcome.LATE for report in found.reports)
    trace = Trace(
        query.analysis,
        found.reports,
        watch.stages,
        len(found.candidates),
        merged,
        found.profile.weights,
        reason,
        query.rewrite,
        cut_short,
        known,
    )
    return replace(_block(request, packed, trace), forget_version=found.profile.forget_version)


async def retrieve(reader: RecallContext, request: RecallRequest, watch: StageTimer) -> Retrieved:
    """Everything that may be worth telling.

    Raises:
        TimeoutError: If the query was not read in its share of the deadline.
        DeadlineExceeded: If the evidence was not loaded by the deadline.
    """
    query, profile = await asyncio.wait_for(
        build_query(reader, request), watch.remaining_s(QUERY_SHARE)
    )
    profile = replace(
        profile,
        weights=for_intent(profile.weights, profile.moved.get(query.analysis.intent, NO_OFFSET)),
    )
    watch.mark("query")
    hits, reports = await ask(reader.layers, query, watch.deadline(LAYERS_SHARE))
    watch.mark("layers")
    candidates, already_visible = await load_candidates(
        reader, request, query, hits, watch.deadline()
    )
    watch.mark("evidence")
    return Retrieved(query, profile, candidates, reports, hits, already_visible)


def compose(
    reader: RecallContext, request: RecallRequest, found: Retrieved
) -> tuple[Packed, int, Answerability | None, str]:
    """The block's content, how many candidates said the same as a better one, how far they answer, and the outcome in a sentence."""
    if not found.query.analysis.needs_memory:
        return Packed(), 0, None, "the utterance needs no memory"
    judged, known = _judged(reader, request, found, found.candidates)
    statements, merged = deduplicate(judged)
    packed = Packed()
    if known is not Answerability.NOTHING:
        packed = pack(
            found.query, statements, known, request.max_tokens, reader.tokens.count, reader.options
        )
    if packed.items:
        return (
            packed,
            merged,
            known,
            f"{len(packed.items)} of {len(found.candidates)} candidates were worth their tokens",
        )
    if (
        found.already_visible
        and _judged(reader, request, found, (*found.candidates, *found.already_visible))[1]
        is not Answerability.NOTHING
    ):
        return Packed(), merged, known, "all that is known is visible to the language model already"
    if known is not Answerability.NOTHING:
        return (
            packed,
            merged,
            known,
            "nothing that was found passes the threshold and fits the budget",
        )
    reason = "nothing relevant was found"
    if not (reader.options.say_unknown and found.query.analysis.question):
        return packed, merged, known, reason
    text = nothing_known(found.query.topics)
    tokens = reader.tokens.count(text)
    return (
        (Packed((), text, tokens) if tokens <= request.max_tokens else packed),
        merged,
        known,
        reason,
    )


def _judged(
    reader: RecallContext, request: RecallRequest, found: Retrieved, candidates: Sequence[Candidate]
) -> tuple[list[ScoredCandidate], Answerability]:
    return rank(
        found.query,
        candidates,
        features(found.query, candidates),
        reader.model,
        found.profile.weights,
        request.max_tokens,
    )


def late(request: RecallRequest, stages: Mapping[str, float] | None = None) -> ContextBlock:
    """The empty block of a recall that was not done in time.

    `stages` are the milliseconds of those it went through.
    """
    return _block(
        request, Packed(), Trace(stages=stages or {}, reason="nothing was ready in time", late=True)
    )


def _block(request: RecallRequest, packed: Packed, trace: Trace) -> ContextBlock:
    return ContextBlock(
        packed.text,
        packed.tokens,
        packed.items,
        trace,
        request.user_id,
        request.session_id,
        request.text,
        request.at,
        request.visible,
    )
