"""Hits → candidates: what the layers found is pooled and loaded, with what stands beside it and what has taken its place."""

from collections.abc import Sequence
from typing import Final

from hotmem.retrieval.context import RecallRequest, RetrievalContext
from hotmem.retrieval.fusion import Candidate, fuse, pool_scores, split_visible, top_hits
from hotmem.retrieval.requested_window import requested_window
from hotmem.types import Evidence, EvidenceKind, Hit, Intent, Interval, Query

CANDIDATE_LIMITS: Final = {
    EvidenceKind.PASSAGE: 80,
    EvidenceKind.MEMORY: 50,
    EvidenceKind.SUMMARY: 5,
}
"""Hits of each kind that are loaded and weighed; every further one costs some 50 µs."""

SUMMARY_INTENTS: Final = frozenset({Intent.SUMMARY, Intent.PATTERN})
"""Intents that a session's summary may answer. A summary costs as much room as three turns; for
others none is weighed, unless asked outright."""

NEIGHBOR_RADIUS: Final = 2
"""Passages on each side of a hit that are weighed with it: an answer often shares no word with
its question."""

HITS_WITH_NEIGHBORS: Final = 30
"""Hits, the most promising, whose neighbours are weighed."""


async def load_candidates(
    reader: RetrievalContext,
    request: RecallRequest,
    query: Query,
    hits: Sequence[Hit],
    until: float | None,
) -> tuple[list[Candidate], list[Candidate]]:
    """Candidates that the language model lacks, and those that it has before it already.

    Raises:
        DeadlineExceeded: If `time.monotonic()` passed `until`.
    """
    window = requested_window(query)
    overview = request.explicit or query.analysis.intent in SUMMARY_INTENTS or window is not None
    keys = {
        kind: top_hits(hits, kind, CANDIDATE_LIMITS[kind])
        for kind in EvidenceKind
        if overview or kind is not EvidenceKind.SUMMARY
    }
    around = keys[EvidenceKind.PASSAGE][:HITS_WITH_NEIGHBORS]
    evidence = await reader.store.evidence(
        query.user,
        keys,
        around=around,
        reach=NEIGHBOR_RADIUS,
        window=reader.options.verbatim_window,
        asked=query.analysis.time,
        until=until,
    )
    if window is not None and not request.explicit:
        evidence = _of_window(evidence, window)
    return split_visible(fuse(pool_scores(hits), evidence), request.visible, query)


def _of_window(evidence: Sequence[Evidence], window: Interval) -> list[Evidence]:
    """The evidence without the summaries of other times than the one that is asked for."""
    return [
        one
        for one in evidence
        if one.kind is not EvidenceKind.SUMMARY or window.start <= one.said_at < window.end
    ]
