"""search_contextual: sessions about a query, their best messages in context, related sessions."""

from collections import defaultdict
from typing import Final

from hotmem.operations.results import ContextualResult, Message, SessionFound
from hotmem.operations.scoring import UNLIMITED_BUDGET
from hotmem.operations.search import query_analysis
from hotmem.ranking.features import candidate_features
from hotmem.ranking.ranker import rank
from hotmem.recall import RecallContext
from hotmem.retrieval.context import RecallRequest
from hotmem.retrieval.fusion import fuse, pool_scores
from hotmem.retrieval.layers.sessions import SESSIONS_SEARCHED, Sessions
from hotmem.retrieval.query import build_query
from hotmem.storage import queries
from hotmem.types import Evidence, EvidenceKind

NEIGHBOR_RADIUS: Final = 1
"""Passages on each side of a message that are returned with it."""

MAX_RELATED: Final = 3
"""Limit of related sessions of each session."""


async def search_contextual(context: RecallContext, request: RecallRequest) -> ContextualResult:
    """Search sessions.

    Args:
        context: The resources of the read path.
        request: The query; its deadline and budget are ignored.

    Returns:
        The sessions, best first.
    """
    query, profile = await build_query(context, request)
    hits = await Sessions(context.engine).search(query, None)
    best = [hit.key for hit in hits if hit.kind is EvidenceKind.SUMMARY][:SESSIONS_SEARCHED]
    inside = [hit.key for hit in hits if hit.kind is EvidenceKind.PASSAGE]
    wanted = {EvidenceKind.PASSAGE: inside, EvidenceKind.SUMMARY: best}
    candidates = fuse(
        pool_scores(hits),
        await context.database.read(
            queries.evidence.load, query.user, wanted, around=inside, reach=NEIGHBOR_RADIUS
        ),
    )
    ranking = rank(
        query,
        candidates,
        candidate_features(query, candidates),
        context.model,
        profile.weights,
        UNLIMITED_BUDGET,
    )
    relevance = {(one.evidence.kind, one.evidence.key): one.score for one in ranking.candidates}
    related = await context.database.read(queries.summaries.related, query.user, best, MAX_RELATED)
    by_session: defaultdict[int, list[Evidence]] = defaultdict(list)
    for candidate in candidates:
        by_session[candidate.evidence.session].append(candidate.evidence)
    sessions = []
    for key in best:
        summary = next((one for one in by_session[key] if one.kind is EvidenceKind.SUMMARY), None)
        messages = tuple(
            Message(
                one.turn_ids[0],
                one.speaker or (one.role or ""),
                one.text,
                one.said_at,
                relevance.get((one.kind, one.key), 0.0),
            )
            for one in sorted(by_session[key], key=lambda one: one.position)
            if one.kind is EvidenceKind.PASSAGE
        )
        if messages:
            first = by_session[key][0]
            score = max(message.relevance_score for message in messages)
            last = max(message.at for message in messages) if summary is None else summary.said_at
            sessions.append(
                SessionFound(
                    first.session_id,
                    last,
                    score,
                    summary.text if summary else "",
                    messages,
                    related.get(key, ()),
                )
            )
    return ContextualResult(
        tuple(sorted(sessions, key=lambda one: -one.relevance_score)), query_analysis(query)
    )
