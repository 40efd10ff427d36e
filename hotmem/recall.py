"""READ FIRST: the read path, utterance → context block, one line a stage.

retrieve:  utterance ─▶ query ─▶ hits of the layers ─▶ candidates
compose:   features ─▶ ranking ─▶ distinct statements ─▶ packed block
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from hotmem.block.assembly import Composition, finished_block, late_block
from hotmem.block.packing import Packed, pack, unheld_names
from hotmem.block.quotes import quotes
from hotmem.block.rendering import render_nothing_known
from hotmem.core.metrics import count_hits
from hotmem.core.timing import StageTimer
from hotmem.errors import DeadlineExceeded
from hotmem.feedback.learning import weights_for_intent
from hotmem.models import TokenCounter
from hotmem.ranking.features import candidate_features
from hotmem.ranking.ranker import Ranking, assess, rank
from hotmem.ranking.relevance import Answerability, RelevanceModel
from hotmem.retrieval.candidates import load_candidates
from hotmem.retrieval.context import RecallRequest, RetrievalContext, Retrieved, search_layers
from hotmem.retrieval.fusion import Candidate
from hotmem.retrieval.query import build_query
from hotmem.storage import queries
from hotmem.storage.search.searches import LexicalSearch
from hotmem.text.languages import ENGLISH
from hotmem.types import NO_OFFSET, ContextBlock, Evidence, EvidenceKind, Interval, Role
from hotmem.understanding.private_statements import holds_secret, may_hear
from hotmem.understanding.sharing import SHARING, SOON, is_shared, named, permits, sentences

QUERY_SHARE: Final = 0.4
LAYERS_SHARE: Final = 0.8
"""Shares of the deadline by which the query must be built and the layers searched."""

MOST_BANS: Final = 100
"""Passages about the same as a permission, or about what others may know, that may take it back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallContext(RetrievalContext):
    """The resources of the read path.

    Attributes:
        tokens: Counts the tokens of a text.
        model: The relevance model.
    """

    tokens: TokenCounter
    model: RelevanceModel


async def recall(context: RecallContext, request: RecallRequest) -> ContextBlock:
    """Make the context block for an utterance.

    By the deadline it holds what is ready. `hotmem.Memory` runs it on a worker thread, where its
    computation does not block the bot's event loop.
    """
    timer = StageTimer(request.deadline_ms, request.asked_at)
    try:
        retrieved = await retrieve(context, request, timer)
    except (TimeoutError, DeadlineExceeded):
        return late_block(request, timer.stages)
    if request.asked_by is not None:
        heard = await _heard(context, request, retrieved, timer.deadline())
        retrieved = replace(retrieved, candidates=heard)
    count_hits("recall", {report.layer.value: report.hits for report in retrieved.reports})
    composition = compose(context, request, retrieved)
    timer.mark("context")
    return finished_block(request, retrieved, composition, timer.stages)


async def retrieve(
    context: RetrievalContext,
    request: RecallRequest,
    timer: StageTimer,
    period: Interval | None = None,
) -> Retrieved:
    """Find the candidates for an utterance.

    Args:
        context: The resources of retrieval.
        request: The request.
        timer: Its deadline.
        period: The time asked about, if it is known; None takes it from the utterance.

    Raises:
        TimeoutError: If the query was not built in its share of the deadline.
        DeadlineExceeded: If the candidates were not loaded by the deadline.
    """
    query, profile = await asyncio.wait_for(
        build_query(context, request), timer.remaining_s(QUERY_SHARE)
    )
    if period is not None:
        query = replace(query, analysis=replace(query.analysis, time=period))
    offset = profile.moved.get(query.analysis.intent, NO_OFFSET)
    profile = replace(profile, weights=weights_for_intent(profile.weights, offset))
    timer.mark("query")
    hits, reports = await search_layers(context.layers, query, timer.deadline(LAYERS_SHARE))
    timer.mark("layers")
    candidates, already_visible = await load_candidates(
        context, request, query, hits, timer.deadline()
    )
    timer.mark("evidence")
    return Retrieved(query, profile, candidates, reports, hits, already_visible)


def compose(context: RecallContext, request: RecallRequest, retrieved: Retrieved) -> Composition:
    """Rank the candidates and pack the best into a block."""
    query, candidates, budget = retrieved.query, retrieved.candidates, request.max_tokens
    if not query.analysis.needs_memory:
        return Composition(Packed(), "The utterance needs no memory.")
    ranking = rank_retrieved(context, retrieved, budget)
    statements, merged = quotes(ranking.candidates, query.index_language)
    known, count = ranking.answerability, context.tokens.count
    if query.analysis.language != ENGLISH:  # the model, fitted on English, cannot tell
        known = Answerability.SOMETHING
    packed, unheld = Packed(), tuple[str, ...]()
    if context.options.say_unknown and query.analysis.question:
        unheld = unheld_names(query, [one.evidence for one in candidates], known)
    if known is not Answerability.NOTHING:
        packed = pack(query, statements, known, budget, count, context.options, unheld)
    if known is Answerability.SOMETHING and not packed.items:  # what answers it is withheld
        known = Answerability.DOUBTFUL
    if packed.items:
        reason = f"Candidates in the block: {len(packed.items)} of {len(candidates)}."
    elif _answered_by_visible(context, retrieved):
        reason = "All relevant memories are already in the visible conversation."
    elif known is not Answerability.NOTHING:
        reason = "No candidate passes the relevance threshold and fits the token budget."
    else:
        reason = "No relevant memory was found."
        if context.options.say_unknown and query.analysis.question:
            text = render_nothing_known(query.analysis.subjects or query.analysis.entities)
            if (tokens := count(text)) <= budget:
                packed = Packed((), text, tokens)
    return Composition(packed, reason, merged, known)


def rank_retrieved(context: RecallContext, retrieved: Retrieved, budget: int) -> Ranking:
    """Rank the candidates by the memory's model and the user's weights.

    Args:
        context: The resources of the read path.
        retrieved: The candidates and their query.
        budget: Tokens that they may take, which limits their number.
    """
    query, candidates = retrieved.query, retrieved.candidates
    features, weights = candidate_features(query, candidates), retrieved.profile.weights
    return rank(query, candidates, features, context.model, weights, budget)


async def _heard(
    context: RecallContext, request: RecallRequest, retrieved: Retrieved, until: float | None
) -> list[Candidate]:
    """The candidates that another speaker than the user may be told."""
    found = [one.evidence for one in (*retrieved.candidates, *retrieved.already_visible)]
    secret = {turn for one in found if holds_secret(one) for turn in one.turns}
    try:
        shared = await _shared(context, retrieved, found, until)
    except (TimeoutError, DeadlineExceeded):
        shared = set()
    hears = partial(may_hear, request.asked_by or "", request.session_id)

    def is_heard(one: Evidence) -> bool:
        permitted = one.position >= 0 and one.key in shared
        return permitted or (hears(one) and secret.isdisjoint(one.turns))

    return [candidate for candidate in retrieved.candidates if is_heard(candidate.evidence)]


async def _shared(
    context: RecallContext, retrieved: Retrieved, found: Sequence[Evidence], until: float | None
) -> set[int]:
    """Row numbers of the passages that the user lets others know, of what was found.

    What takes a permission back need not be among it, and is searched for.
    """
    user, owner = retrieved.query.user, retrieved.profile.owner
    own = [one for one in found if one.role is Role.USER and one.speaker == owner]
    own = [one for one in own if one.position >= 0]
    permitting = [one for one in own if any(map(permits, sentences(one.text)))]
    if not permitting:
        return set()
    words = sorted(SHARING.union(*(named(one.text) for one in permitting)))
    search = LexicalSearch(EvidenceKind.PASSAGE, words, MOST_BANS)
    (hits,) = await context.engine.search(user, search, until=until)
    keys, around = {EvidenceKind.PASSAGE: [key for key, _ in hits]}, [one.key for one in permitting]
    load, database = queries.evidence.load, context.database
    said = await database.read_until(until, load, user, keys, around=around, reach=SOON)
    said = [*own, *(one for one in said if one.role is Role.USER and one.speaker == owner)]
    return {one.key for one in own if is_shared(one, said)}


def _answered_by_visible(context: RecallContext, retrieved: Retrieved) -> bool:
    """Whether the query is answered once the already visible candidates count as well."""
    if not retrieved.already_visible:
        return False
    query, candidates = retrieved.query, (*retrieved.candidates, *retrieved.already_visible)
    features = candidate_features(query, candidates)
    assessment = assess(query, candidates, features, context.model, retrieved.profile.weights)
    return assessment.answerability is not Answerability.NOTHING
