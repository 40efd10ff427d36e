"""READ FIRST: utterance → block, one line a stage."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hotmem.context.features import features
from hotmem.context.fusion import Candidate
from hotmem.context.judgement import distinct, judge
from hotmem.context.knowing import Known
from hotmem.context.packing import Packed, pack
from hotmem.context.render import nothing_known
from hotmem.errors import DeadlineExceeded
from hotmem.layers.fanout import ask
from hotmem.layers.gathering import gather
from hotmem.learning.weights import for_intent
from hotmem.query import read_query
from hotmem.reader import Reader, Request
from hotmem.stopwatch import Stopwatch
from hotmem.types import UNMOVED, ContextBlock, Hit, LayerOutcome, LayerReport, Profile, Query, Trace

QUERY_SHARE: Final = 0.4
LAYERS_SHARE: Final = 0.8
"""Parts of the deadline after which the query must be read and the layers are no longer waited for; the rest is for composing."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was asked and what was found, before it is weighed: each layer's hits, and the candidates that came of the most promising."""

    query: Query
    profile: Profile
    candidates: Sequence[Candidate]
    reports: tuple[LayerReport, ...]
    hits: Sequence[Hit] = ()


async def recall(reader: Reader, request: Request) -> ContextBlock:
    """The context block for an utterance. With a deadline it is there in time, with less if need be.

    It waits for little and computes much: `hotmem.Memory` runs it in its lane, where it holds up no bot.
    """
    watch = Stopwatch(request.deadline_ms, request.asked_at)
    try:
        found = await retrieve(reader, request, watch)
    except (TimeoutError, DeadlineExceeded):
        return late(request, watch.laps)
    packed, merged, reason = compose(reader, request, found)
    watch.lap("context")
    query = found.query
    cut_short = any(report.outcome is LayerOutcome.LATE for report in found.reports)
    trace = Trace(query.analysis, found.reports, watch.laps, len(found.candidates), merged, found.profile.weights, reason, query.rewrite, cut_short)
    return _block(request, packed, trace)


async def retrieve(reader: Reader, request: Request, watch: Stopwatch) -> Retrieved:
    """Everything that may be worth telling.

    Raises:
        TimeoutError: If the query was not read in its share of the deadline.
        DeadlineExceeded: If the evidence was not loaded by the deadline.
    """
    query, profile = await asyncio.wait_for(read_query(reader, request), watch.left_s(QUERY_SHARE))
    profile = replace(profile, weights=for_intent(profile.weights, profile.moved.get(query.analysis.intent, UNMOVED)))
    watch.lap("query")
    hits, reports = await ask(reader.layers, query, watch.until(LAYERS_SHARE))
    watch.lap("layers")
    candidates = await gather(reader, request, query, hits, watch.until())
    watch.lap("evidence")
    return Retrieved(query, profile, candidates, reports, hits)


def compose(reader: Reader, request: Request, found: Retrieved) -> tuple[Packed, int, str]:
    """The block's content, how many candidates said the same as a better one, and the outcome in a sentence."""
    if not found.query.analysis.needs_memory:
        return Packed(), 0, "the utterance needs no memory"
    seen = features(found.query, found.candidates)
    judged, known = judge(found.query, found.candidates, seen, reader.model, found.profile.weights, request.max_tokens)
    statements, merged = distinct(judged)
    packed = Packed()
    if known is not Known.NOTHING:
        packed = pack(found.query, statements, known, request.max_tokens, reader.tokens.count, reader.options)
    if packed.items:
        return packed, merged, f"{len(packed.items)} of {len(found.candidates)} candidates were worth their tokens"
    text = nothing_known(found.query.topics)
    tokens = reader.tokens.count(text)
    return (Packed((), text, tokens) if tokens <= request.max_tokens else packed), merged, "nothing relevant was found"


def late(request: Request, stages: Mapping[str, float] | None = None) -> ContextBlock:
    """The empty block of a recall that was not done in time; `stages` are the milliseconds of those it went through."""
    return _block(request, Packed(), Trace(stages=stages or {}, reason="nothing was ready in time", late=True))


def _block(request: Request, packed: Packed, trace: Trace) -> ContextBlock:
    return ContextBlock(
        packed.text, packed.tokens, packed.items, trace, request.user_id, request.session_id, request.text, request.at, request.visible
    )
