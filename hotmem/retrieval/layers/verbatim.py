"""Verbatim: passages that hold the query's words, by BM25 over stemmed words.

Exact phrases count on top.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hotmem.storage.search.searches import LexicalSearch
from hotmem.storage.store import Store
from hotmem.types import EvidenceKind, Hit, Layer, Query

PASSAGES: Final = 80
"""Passages kept. Recall of LoCoMo's evidence within the first 80 is nearly complete; more cost
time."""

PHRASE_BONUS: Final = 4.0
"""Added to the BM25 score of a passage that holds a quoted phrase or a name of several words,
about one rare word's worth."""

_QUOTED = re.compile(r"[\"“”]([^\"“”]{3,80})[\"“”]")


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Finds what was said by its words."""

    store: Store
    layer: Layer = Layer.VERBATIM

    async def search(self, query: Query, until: float | None) -> Sequence[Hit]:
        """Passages by words, each with its BM25 score."""
        searches = (
            LexicalSearch(EvidenceKind.PASSAGE, terms, PASSAGES)
            for terms in (query.terms, phrases(query))
        )
        by_words, exact = await self.store.search(query.user, *searches, until=until)
        found = dict(by_words)
        for key, _ in exact:
            found[key] = found.get(key, 0.0) + PHRASE_BONUS
        ranked = sorted(found.items(), key=lambda pair: -pair[1])
        return [Hit(self.layer, EvidenceKind.PASSAGE, key, score) for key, score in ranked]


def phrases(query: Query) -> tuple[str, ...]:
    """Quoted phrases and names of several words."""
    quoted = _QUOTED.findall(query.text)
    return tuple(
        dict.fromkeys([*quoted, *(name for name in query.analysis.entities if " " in name.strip())])
    )
