"""Verbatim: passages that contain the query's words, by BM25 over stems, and its phrases."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hotmem.storage.search.engine import SearchEngine
from hotmem.storage.search.searches import LexicalSearch
from hotmem.types import EvidenceKind, Hit, Layer, Query

MAX_PASSAGES: Final = 80
"""Number of passages taken from each search."""

PHRASE_BONUS: Final = 4.0
"""Added to the BM25 score of a passage that contains a quoted phrase or a name of several words;
about the score of one rare word."""

_QUOTED = re.compile(r"[\"“”]([^\"“”]{3,80})[\"“”]")


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Searches passages by words."""

    engine: SearchEngine
    layer: Layer = Layer.VERBATIM

    async def search(self, query: Query, until: float | None) -> Sequence[Hit]:
        """Passages, scored by BM25 and a bonus for phrases."""
        searches = (
            LexicalSearch(EvidenceKind.PASSAGE, terms, MAX_PASSAGES)
            for terms in (query.terms, phrases(query))
        )
        by_words, exact = await self.engine.search(
            query.user, *searches, until=until, states=query.index_states
        )
        found = dict(by_words)
        for key, _ in exact:
            found[key] = found.get(key, 0.0) + PHRASE_BONUS
        ranked = sorted(found.items(), key=lambda pair: -pair[1])
        return [Hit(self.layer, EvidenceKind.PASSAGE, key, score) for key, score in ranked]


def phrases(query: Query) -> tuple[str, ...]:
    """The quoted phrases and the names of several words in a query."""
    quoted = _QUOTED.findall(query.text)
    return tuple(
        dict.fromkeys([*quoted, *(name for name in query.analysis.entities if " " in name.strip())])
    )
