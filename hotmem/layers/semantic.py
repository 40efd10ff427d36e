"""Semantic: passages and memories whose embedding is near the query's."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hotmem.store.searches import ByMeaning
from hotmem.store.store import Store
from hotmem.types import EvidenceKind, Hit, Layer, Query

NEAREST: Final = {EvidenceKind.PASSAGE: 80, EvidenceKind.MEMORY: 10}


@dataclass(frozen=True, slots=True)
class Semantic:
    """Finds what was said by its meaning."""

    store: Store
    layer: Layer = Layer.SEMANTIC

    async def search(self, query: Query, until: float | None) -> Sequence[Hit]:
        """Passages and memories, each with its cosine to the query."""
        searches = (ByMeaning(kind, query.vector, limit) for kind, limit in NEAREST.items())
        found = await self.store.search(query.user, *searches, until=until)
        return [Hit(self.layer, kind, key, cosine) for kind, rows in zip(NEAREST, found, strict=True) for key, cosine in rows]
