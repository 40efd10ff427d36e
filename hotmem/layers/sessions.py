"""Sessions: first the sessions that were about it, then the best passages inside the best of them.

The cost grows with the number of sessions and with the length of the few sessions looked into, not with all turns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hotmem.store.searches import ByMeaning, ByWords, InSessions
from hotmem.store.store import Store
from hotmem.types import EvidenceKind, Hit, Layer, Query

SESSIONS: Final = 30
"""Sessions scored."""

LOOKED_INTO: Final = 3
"""Best sessions searched inside."""

PASSAGES_EACH: Final = 5
"""Passages taken from each."""

COSINE_SHARE: Final = 0.5
"""Part of a session's score that its summary's meaning has beside the words said in it."""


@dataclass(frozen=True, slots=True)
class Sessions:
    """Finds the conversation in which it was talked about."""

    store: Store
    layer: Layer = Layer.SESSIONS

    async def search(self, query: Query, until: float | None) -> Sequence[Hit]:
        """Summaries, one per session, and passages within the best sessions."""
        by_words, by_meaning = await self.store.search(
            query.user,
            ByWords(EvidenceKind.SUMMARY, query.terms, SESSIONS),
            ByMeaning(EvidenceKind.SUMMARY, query.vector, SESSIONS),
            until=until,
        )
        ranked = blended(dict(by_words), dict(by_meaning))
        summaries = [Hit(self.layer, EvidenceKind.SUMMARY, key, score) for key, score in ranked]
        best = [key for key, _ in ranked[:LOOKED_INTO]]
        (inside,) = await self.store.search(query.user, InSessions(best, query.vector, LOOKED_INTO * PASSAGES_EACH), until=until)
        return [*summaries, *(Hit(self.layer, EvidenceKind.PASSAGE, key, score) for key, score in inside)]


def blended(by_words: dict[int, float], by_meaning: dict[int, float]) -> list[tuple[int, float]]:
    """Sessions by both scores, each scaled to at most 1, best first.

    Returns:
        Session row numbers and scores from 0 to 1.
    """
    most = max(by_words.values(), default=0.0) or 1.0
    keys = by_words.keys() | by_meaning.keys()
    scores = {key: (1 - COSINE_SHARE) * by_words.get(key, 0.0) / most + COSINE_SHARE * max(by_meaning.get(key, 0.0), 0.0) for key in keys}
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
