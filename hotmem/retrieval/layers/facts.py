"""Facts: memories found by their words, their embedding and their entities."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hotmem.retrieval.fusion import reciprocal_rank_fusion
from hotmem.storage.search.engine import SearchEngine
from hotmem.storage.search.searches import EntitySearch, LexicalSearch, VectorSearch
from hotmem.types import EvidenceKind, Hit, Layer, Query

MAX_MEMORIES: Final = 50
"""Number of memories returned, and taken from each search."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Searches memories."""

    engine: SearchEngine
    layer: Layer = Layer.FACTS

    async def search(self, query: Query, until: float | None) -> Sequence[Hit]:
        """Memories, scored by reciprocal rank fusion of the three searches."""
        rankings = await self.engine.search(
            query.user,
            LexicalSearch(EvidenceKind.MEMORY, query.terms, MAX_MEMORIES),
            VectorSearch(EvidenceKind.MEMORY, query.vectors, MAX_MEMORIES),
            EntitySearch(query.analysis.entities, MAX_MEMORIES),
            until=until,
            states=query.index_states,
        )
        ranked = reciprocal_rank_fusion([key for key, _ in ranking] for ranking in rankings)
        return [
            Hit(self.layer, EvidenceKind.MEMORY, key, score) for key, score in ranked[:MAX_MEMORIES]
        ]
