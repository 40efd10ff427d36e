"""Facts: memories reached through their words, their meaning and the entities in them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hotmem.storage.search.searches import EntitySearch, LexicalSearch, VectorSearch
from hotmem.storage.store import Store
from hotmem.types import EvidenceKind, Hit, Layer, Query

MEMORIES: Final = 50
"""Memories kept."""

RANK_CONSTANT: Final = 10
"""Reciprocal rank fusion's k (Cormack et al. 2009 use 60 for deep lists; these lists are short)."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Finds what is known of the people and things in the query."""

    store: Store
    layer: Layer = Layer.FACTS

    async def search(self, query: Query, until: float | None) -> Sequence[Hit]:
        """Memories, scored by the sum of their reciprocal ranks in the three searches."""
        rankings = await self.store.search(
            query.user,
            LexicalSearch(EvidenceKind.MEMORY, query.terms, MEMORIES),
            VectorSearch(EvidenceKind.MEMORY, query.vectors, MEMORIES),
            EntitySearch(query.analysis.entities, MEMORIES),
            until=until,
        )
        scores: defaultdict[int, float] = defaultdict(float)
        for ranking in rankings:
            for rank, (key, _) in enumerate(ranking):
                scores[key] += 1 / (RANK_CONSTANT + rank)
        ranked = sorted(scores.items(), key=lambda pair: -pair[1])[:MEMORIES]
        return [Hit(self.layer, EvidenceKind.MEMORY, key, score) for key, score in ranked]
