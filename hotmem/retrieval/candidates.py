"""Candidates: the hits of all layers, fused and loaded with their neighbouring passages."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from typing import Final

from hotmem.retrieval.context import RecallRequest, RetrievalContext
from hotmem.retrieval.fusion import Candidate, fuse, pool_scores, split_visible, top_hits
from hotmem.retrieval.requested_window import requested_window
from hotmem.storage import queries
from hotmem.temporal import find_times
from hotmem.text.passages import MAX_QUERY_CHARACTERS, truncate
from hotmem.types import Evidence, EvidenceKind, Hit, Intent, Interval, Query, Source, TimedWords

MAX_STORED: Final = 20
"""Number of the latest stored reminders that are candidates where a time window is requested."""


def stated_times(reminder: Evidence, zone: tzinfo | None) -> tuple[TimedWords, ...]:
    """Return the times in the text of a stored reminder, read as future in a time zone."""
    text = truncate(reminder.text, MAX_QUERY_CHARACTERS)
    return tuple(
        TimedWords(text[time.start : time.stop], time.interval)
        for time in find_times(text, reminder.said_at.astimezone(zone), ahead=True)
    )


def with_stated_times(evidence: Sequence[Evidence], query: Query) -> Iterator[Evidence]:
    """Yield the evidence; stored reminders with the times of their text, read as future.

    Args:
        evidence: The evidence.
        query: The query, in the user's time zone.
    """
    asked = query.analysis.time
    for one in evidence:
        if not one.reminder or one.source is not Source.STATEMENT:
            yield one
            continue
        times = stated_times(one, query.at.tzinfo)
        matches = asked is not None and any(
            time.start < asked.end and time.end > asked.start for _, time in times
        )
        yield one._replace(times=times, matches_time=matches)


CANDIDATE_LIMITS: Final = {
    EvidenceKind.PASSAGE: 80,
    EvidenceKind.MEMORY: 20,
    EvidenceKind.SUMMARY: 5,
}
"""Number of hits of each kind that are loaded and ranked."""

SUMMARY_INTENTS: Final = frozenset({Intent.SUMMARY, Intent.PATTERN})
"""Intents that the summary of a session may answer. For others summaries are loaded only on an
explicit request, as each takes the room of several turns."""

NEIGHBOR_RADIUS: Final = 2
"""Passages on each side of a hit that are loaded with it: an answer often shares no word with its
question."""

HITS_WITH_NEIGHBORS: Final = 30
"""Number of best passages that are loaded with their neighbours."""


async def load_candidates(
    context: RetrievalContext,
    request: RecallRequest,
    query: Query,
    hits: Sequence[Hit],
    until: float | None,
    besides: Sequence[int] = (),
) -> tuple[list[Candidate], list[Candidate]]:
    """Load the candidates among the hits.

    Args:
        context: The resources of retrieval.
        request: The request.
        query: The analysed utterance.
        hits: The hits of all layers.
        until: Reading of `time.monotonic()` at which to give up, or None.
        besides: Row numbers of memories that are candidates whether or not a layer found them.

    Returns:
        The new candidates, and those already in the visible conversation.

    Raises:
        DeadlineExceeded: If `until` passed.
    """
    window = requested_window(query)
    summaries = request.explicit or query.analysis.intent in SUMMARY_INTENTS or window is not None
    keys = {
        kind: top_hits(hits, kind, CANDIDATE_LIMITS[kind])
        for kind in EvidenceKind
        if summaries or kind is not EvidenceKind.SUMMARY
    }
    if window is not None:
        stored = await context.database.read_until(
            until, queries.memories.stored_reminders, query.user, MAX_STORED
        )
        besides = (*besides, *stored)
    memories = keys[EvidenceKind.MEMORY]
    keys[EvidenceKind.MEMORY] = list(dict.fromkeys((*memories, *besides)))
    evidence = await context.database.read_until(
        until,
        queries.evidence.load,
        query.user,
        keys,
        around=keys[EvidenceKind.PASSAGE][:HITS_WITH_NEIGHBORS],
        reach=NEIGHBOR_RADIUS,
        window=context.options.verbatim_window,
        asked=query.analysis.time,
    )
    evidence = list(with_stated_times(evidence, query))
    if window is not None and not request.explicit:
        evidence = _without_other_summaries(evidence, window)
    return split_visible(fuse(pool_scores(hits), evidence), request.visible, query)


def _without_other_summaries(evidence: Sequence[Evidence], window: Interval) -> list[Evidence]:
    """The evidence without summaries of sessions outside the requested window."""
    return [
        one
        for one in evidence
        if one.kind is not EvidenceKind.SUMMARY or window.start <= one.said_at < window.end
    ]
