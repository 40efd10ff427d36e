"""READ FIRST: utterance → block, one line a stage."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hotmem.context.features import features
from hotmem.context.fusion import Candidate
from hotmem.context.judged import Judged
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
    """What was asked and what was found, before it is weighed.

    Attributes:
        query: The analysed utterance.
        profile: What is known of who asks.
        candidates: What came of the most promising hits and the language model lacks.
        reports: What each layer did.
        hits: What each layer found.
        in_sight: What the language model has before it already.
    """

    query: Query
    profile: Profile
    candidates: Sequence[Candidate]
    reports: tuple[LayerReport, ...]
    hits: Sequence[Hit] = ()
    in_sight: Sequence[Candidate] = ()


async def recall(reader: Reader, request: Request) -> ContextBlock:
    """The context block for an utterance. With a deadline it is there in time, with less if need be.

    It waits for little and computes much: `hotmem.Memory` runs it in its lane, where it holds up no bot.
    """
    watch = Stopwatch(request.deadline_ms, request.asked_at)
    try:
        found = await retrieve(reader, request, watch)
    except (TimeoutError, DeadlineExceeded):
        return late(request, watch.laps)
    packed, merged, known, reason = compose(reader, request, found)
    watch.lap("context")
    query = found.query
    cut_short = any(report.outcome is LayerOutcome.LATE for report in found.reports)
    trace = Trace(
        query.analysis, found.reports, watch.laps, len(found.candidates), merged, found.profile.weights, reason, query.rewrite, cut_short, known
    )
    return replace(_block(request, packed, trace), forgettings=found.profile.forgettings)


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
    candidates, in_sight = await gather(reader, request, query, hits, watch.until())
    watch.lap("evidence")
    return Retrieved(query, profile, candidates, reports, hits, in_sight)


def compose(reader: Reader, request: Request, found: Retrieved) -> tuple[Packed, int, Known | None, str]:
    """The block's content, how many candidates said the same as a better one, how far they answer, and the outcome in a sentence."""
    if not found.query.analysis.needs_memory:
        return Packed(), 0, None, "the utterance needs no memory"
    judged, known = _judged(reader, request, found, found.candidates)
    statements, merged = distinct(judged)
    packed = Packed()
    if known is not Known.NOTHING:
        packed = pack(found.query, statements, known, request.max_tokens, reader.tokens.count, reader.options)
    if packed.items:
        return packed, merged, known, f"{len(packed.items)} of {len(found.candidates)} candidates were worth their tokens"
    if found.in_sight and _judged(reader, request, found, (*found.candidates, *found.in_sight))[1] is not Known.NOTHING:
        return Packed(), merged, known, "all that is known is visible to the language model already"
    if known is not Known.NOTHING:
        return packed, merged, known, "nothing that was found passes the threshold and fits the budget"
    reason = "nothing relevant was found"
    if not (reader.options.say_unknown and found.query.analysis.question):
        return packed, merged, known, reason
    text = nothing_known(found.query.topics)
    tokens = reader.tokens.count(text)
    return (Packed((), text, tokens) if tokens <= request.max_tokens else packed), merged, known, reason


def _judged(reader: Reader, request: Request, found: Retrieved, candidates: Sequence[Candidate]) -> tuple[list[Judged], Known]:
    return judge(found.query, candidates, features(found.query, candidates), reader.model, found.profile.weights, request.max_tokens)


def late(request: Request, stages: Mapping[str, float] | None = None) -> ContextBlock:
    """The empty block of a recall that was not done in time; `stages` are the milliseconds of those it went through."""
    return _block(request, Packed(), Trace(stages=stages or {}, reason="nothing was ready in time", late=True))


def _block(request: Request, packed: Packed, trace: Trace) -> ContextBlock:
    return ContextBlock(
        packed.text, packed.tokens, packed.items, trace, request.user_id, request.session_id, request.text, request.at, request.visible
    )
