"""Semantic: passages whose embedding is close to the query's.

The facts layer searches the embeddings of memories.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hotmem.storage.search.engine import SearchEngine
from hotmem.storage.search.searches import VectorSearch
from hotmem.types import EvidenceKind, Hit, Layer, Query

MAX_PASSAGES: Final = 80
"""Number of passages returned."""


@dataclass(frozen=True, slots=True)
class Semantic:
    """Searches passages by embedding."""

    engine: SearchEngine
    layer: Layer = Layer.SEMANTIC

    async def search(self, query: Query, until: float | None) -> Sequence[Hit]:
        """Passages, scored by their cosine to the query."""
        (found,) = await self.engine.search(
            query.user,
            VectorSearch(EvidenceKind.PASSAGE, query.vectors, MAX_PASSAGES),
            until=until,
            states=query.index_states,
        )
        return [Hit(self.layer, EvidenceKind.PASSAGE, key, cosine) for key, cosine in found]
