"""Hits → candidates: what the layers found is pooled and loaded, with what stands beside it and what has taken its place."""

import asyncio
from collections.abc import Sequence
from typing import Final

from hotmem.context.fusion import Candidate, fused, pooled, unseen
from hotmem.reader import Reader, Request
from hotmem.types import EvidenceKind, Hit, Query

NEIGHBOURS: Final = 1
"""Passages on each side of a hit that are weighed with it: an answer often shares no word with its question."""


async def gather(reader: Reader, request: Request, query: Query, hits: Sequence[Hit], until: float | None) -> list[Candidate]:
    """Candidates that the language model does not have before it already.

    Raises:
        DeadlineExceeded: If `time.monotonic()` passed `until`.
    """
    pool = pooled(hits)
    keys = {kind: [key for found, key in pool if found is kind] for kind in EvidenceKind}
    window = reader.options.verbatim_window
    loaded = await asyncio.gather(
        *(reader.store.evidence(query.user, kind, found, reach=NEIGHBOURS, window=window, until=until) for kind, found in keys.items() if found)
    )
    evidence = [one for found in loaded for one in found]
    known = {one.key for one in evidence if one.kind is EvidenceKind.MEMORY}
    missing = {one.replaced_by for one in evidence if one.replaced_by is not None} - known
    if missing:
        evidence += await reader.store.evidence(query.user, EvidenceKind.MEMORY, sorted(missing), until=until)
    return unseen(fused(pool, evidence), request.visible, query)
