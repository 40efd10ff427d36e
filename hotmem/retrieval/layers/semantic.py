"""Semantic: passages whose embedding is near the query's.

Memories are searched by meaning with the facts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hotmem.storage.search.searches import VectorSearch
from hotmem.storage.store import Store
from hotmem.types import EvidenceKind, Hit, Layer, Query

PASSAGES: Final = 80
"""Passages kept; ten more memories from here changed no figure of the four datasets."""


@dataclass(frozen=True, slots=True)
class Semantic:
    """Finds what was said by its meaning."""

    store: Store
    layer: Layer = Layer.SEMANTIC

    async def search(self, query: Query, until: float | None) -> Sequence[Hit]:
        """Passages, each with its cosine to the query."""
        (found,) = await self.store.search(
            query.user, VectorSearch(EvidenceKind.PASSAGE, query.vectors, PASSAGES), until=until
        )
        return [Hit(self.layer, EvidenceKind.PASSAGE, key, cosine) for key, cosine in found]
