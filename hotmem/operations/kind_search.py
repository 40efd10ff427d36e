"""Search for memories of one kind: among the hits, and the latest ones besides."""

from collections.abc import Sequence
from typing import Final

from hotmem.operations.requests import SearchOptions
from hotmem.retrieval.context import RetrievalContext
from hotmem.storage import queries
from hotmem.types import EvidenceKind, Hit, Kind, Layer, Query

MAX_LATEST: Final = 50
"""Number of the latest memories of the kind that are ranked as well."""

UNFOUND: Final = 0.0
"""Score of a memory that no layer found."""


def memory_kind(options: SearchOptions) -> Kind | None:
    """The kind of memory that the options ask for; None for turns, summaries, or all."""
    return next((kind for kind in Kind if kind == options.content_type), None)


async def hits_of_kind(
    context: RetrievalContext, query: Query, hits: Sequence[Hit], kind: Kind
) -> list[Hit]:
    """The hits that are memories of a kind, then the latest memories of that kind.

    Without the latest, a few reminders among thousands of facts would be found only by their words.
    """
    found = [hit.key for hit in hits if hit.kind is EvidenceKind.MEMORY]
    keys = await context.database.read(
        queries.memories.of_kind, query.user, kind, found, MAX_LATEST
    )
    wanted = set(keys)
    kept = [hit for hit in hits if hit.kind is EvidenceKind.MEMORY and hit.key in wanted]
    known = {hit.key for hit in kept}
    return [
        *kept,
        *(Hit(Layer.FACTS, EvidenceKind.MEMORY, key, UNFOUND) for key in keys if key not in known),
    ]
