"""READ FIRST: utterance → block, one line a stage."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hotmem.analysis.query import analyse
from hotmem.analysis.runs import word_runs
from hotmem.context.features import features
from hotmem.context.fusion import Candidate, fused, pooled, unseen
from hotmem.context.judgement import distinct, judge, something_known
from hotmem.context.packing import Packed, pack
from hotmem.context.relevance import RelevanceModel
from hotmem.context.render import nothing_known
from hotmem.errors import DeadlineExceeded
from hotmem.layers.base import LayerSearch
from hotmem.layers.fanout import ask
from hotmem.models import Encoder, Language, TokenCounter
from hotmem.options import RecallOptions
from hotmem.stopwatch import Stopwatch
from hotmem.store.store import Store
from hotmem.types import ContextBlock, EvidenceKind, Hit, LayerReport, Profile, Query, Trace, UserKey

NEIGHBOURS: Final = 1
"""Passages on each side of a hit that are weighed with it: an answer often shares no word with the question."""

RECENT_TURNS: Final = 4
"""Turns of the live session that a pointing word may refer to."""

QUERY_WORDS: Final = 200
"""Words of a query that are analysed, the last ones: who talks long comes to the point at the end."""

NOBODY: Final = UserKey(0)
"""A user number that no row has."""

UNDERSTANDING_SHARE: Final = 0.4
LAYERS_SHARE: Final = 0.8
"""Parts of the deadline after which understanding and the layers must be done; the rest is for composing."""


@dataclass(frozen=True, slots=True)
class Reader:
    """The live parts that the read path works with."""

    store: Store
    encoder: Encoder
    language: Language
    tokens: TokenCounter
    layers: Sequence[LayerSearch]
    model: RelevanceModel
    options: RecallOptions


@dataclass(frozen=True, slots=True)
class Request:
    """One question to the memory.

    Attributes:
        text: The utterance, cleaned.
        user_id: Whose memory is asked.
        session_id: The live session, or None.
        at: When it was said, UTC.
        max_tokens: Tokens of the block at most.
        deadline_ms: Milliseconds until the block must be there, or None.
        visible: Texts the language model has in its context already.
    """

    text: str
    user_id: str
    session_id: str | None
    at: datetime
    max_tokens: int
    deadline_ms: float | None
    visible: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was found, before it is weighed."""

    query: Query
    profile: Profile
    reports: tuple[LayerReport, ...]
    candidates: Sequence[Candidate]


async def recall(reader: Reader, request: Request) -> ContextBlock:
    """The context block for an utterance: understand, ask the layers, gather the evidence, compose."""
    watch = Stopwatch(request.deadline_ms)
    user = await reader.store.user(request.user_id)
    try:
        found = await retrieve(reader, request, user, watch)
    except (TimeoutError, DeadlineExceeded):
        return _block(request, Packed(), Trace(reason="nothing was ready in time", stages=watch.laps))
    if not found.query.analysis.needs_memory:
        packed, merged, reason = Packed(), 0, "the utterance needs no memory"
    else:
        packed, merged = await asyncio.to_thread(_compose, reader, found, request.max_tokens)
        reason = f"{len(packed.items)} of {len(found.candidates)} candidates fit" if packed.items else "nothing relevant was found"
    watch.lap("context")
    return _block(
        request, packed, Trace(found.query.analysis, found.reports, watch.laps, len(found.candidates), merged, found.profile.weights, reason)
    )


async def retrieve(reader: Reader, request: Request, user: UserKey | None, watch: Stopwatch) -> Retrieved:
    """Everything before weighing.

    Raises:
        TimeoutError: If the analysis was late.
        DeadlineExceeded: If the evidence was late.
    """
    query, profile = await asyncio.wait_for(_understand(reader, request, user), watch.left_s(UNDERSTANDING_SHARE))
    watch.lap("analysis")
    hits, reports = await ask(reader.layers, query, watch.until(LAYERS_SHARE))
    watch.lap("layers")
    candidates = await _evidence(reader, query, hits, watch)
    watch.lap("evidence")
    return Retrieved(query, profile, reports, unseen(candidates, request.visible, query))


async def _understand(reader: Reader, request: Request, user: UserKey | None) -> tuple[Query, Profile]:
    """Analysis and embedding side by side; pointing words are looked up in the live session's last turns."""
    text = " ".join(request.text.split()[-QUERY_WORDS:])
    parse, encode = reader.language.parse, reader.encoder.encode
    profile, (doc,), vectors = await asyncio.gather(
        reader.store.profile(user, word_runs(text)) if user else _stranger(), asyncio.to_thread(parse, [text]), asyncio.to_thread(encode, [text])
    )
    known = (*profile.speakers, *profile.entities)
    analysis = analyse(doc, request.at, known)
    if analysis.ambiguous and user and request.session_id:
        turns = await reader.store.latest_turns(user, request.session_id, RECENT_TURNS + 1)
        recent = [turn.text for turn in turns if turn.text != request.text][-RECENT_TURNS:]
        analysis = analyse(doc, request.at, known, await asyncio.to_thread(parse, recent))
        if analysis.expansion:
            vectors = await asyncio.to_thread(encode, [f"{text} {' '.join(analysis.expansion)}"])
    if not reader.options.choose_layers:
        analysis = analysis.asking(tuple(layer.layer for layer in reader.layers))
    return Query(text, user or NOBODY, request.session_id, request.at, analysis, profile.speakers, vectors[0]), profile


async def _stranger() -> Profile:
    return Profile()


async def _evidence(reader: Reader, query: Query, hits: Sequence[Hit], watch: Stopwatch) -> list[Candidate]:
    """Loads what was hit, and the neighbours of passages."""
    pool = pooled(hits)
    keys = {kind: [key for hit_kind, key in pool if hit_kind is kind] for kind in EvidenceKind}
    loaded = await asyncio.gather(
        *(
            reader.store.evidence(query.user, kind, found, reach=NEIGHBOURS, window=reader.options.verbatim_window, until=watch.until())
            for kind, found in keys.items()
            if found
        )
    )
    return [candidate for evidence in loaded for candidate in fused(pool, evidence)]


def _compose(reader: Reader, found: Retrieved, budget: int) -> tuple[Packed, int]:
    """Weighs, merges and packs; the number of merged candidates beside it."""
    query = found.query
    judged = judge(query, found.candidates, features(query, found.candidates), reader.model, found.profile.weights)
    statements, merged = distinct(judged)
    if something_known(statements):
        packed = pack(query, statements, budget, reader.tokens.count, reader.options)
        if packed.items:
            return packed, merged
    text = nothing_known(query.topics)
    tokens = reader.tokens.count(text)
    return (Packed((), text, tokens) if tokens <= budget else Packed()), merged


def _block(request: Request, packed: Packed, trace: Trace) -> ContextBlock:
    return ContextBlock(packed.text, packed.tokens, packed.items, trace, request.user_id, request.session_id, request.text, request.at)
