"""Hits → candidates: what the layers found is pooled and loaded, with what stands beside it and what has taken its place."""

from collections.abc import Sequence
from typing import Final

from hotmem.context.fusion import Candidate, fused, most_promising, parted, pooled
from hotmem.reader import Reader, Request
from hotmem.types import EvidenceKind, Hit, Intent, Query

WEIGHED: Final = {EvidenceKind.PASSAGE: 80, EvidenceKind.MEMORY: 50, EvidenceKind.SUMMARY: 5}
"""Hits of each kind that are loaded and weighed; every further one costs some 50 µs."""

OVERVIEWS: Final = frozenset({Intent.SUMMARY, Intent.PATTERN})
"""Intents that a session's summary may answer. A summary costs as much room as three turns; for others none is weighed, unless asked outright."""

NEIGHBOURS: Final = 2
"""Passages on each side of a hit that are weighed with it: an answer often shares no word with its question."""

WITH_NEIGHBOURS: Final = 30
"""Hits, the most promising, whose neighbours are weighed."""


async def gather(reader: Reader, request: Request, query: Query, hits: Sequence[Hit], until: float | None) -> tuple[list[Candidate], list[Candidate]]:
    """Candidates that the language model lacks, and those that it has before it already.

    Raises:
        DeadlineExceeded: If `time.monotonic()` passed `until`.
    """
    overview = request.outright or query.analysis.intent in OVERVIEWS
    keys = {kind: most_promising(hits, kind, WEIGHED[kind]) for kind in EvidenceKind if overview or kind is not EvidenceKind.SUMMARY}
    around = keys[EvidenceKind.PASSAGE][:WITH_NEIGHBOURS]
    evidence = await reader.store.evidence(
        query.user, keys, around=around, reach=NEIGHBOURS, window=reader.options.verbatim_window, asked=query.analysis.time, until=until
    )
    return parted(fused(pooled(hits), evidence), request.visible, query)
