"""Sessions: first the sessions that were about it, then the best passages inside the best of them.

And what belongs to the time asked about.

The cost grows with the number of sessions and with the length of the few sessions looked into, not
with all turns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hotmem.retrieval.requested_window import requested_window, searchable_window
from hotmem.storage.search.searches import (
    HappenedIn,
    LexicalSearch,
    SaidIn,
    SessionSearch,
    VectorSearch,
)
from hotmem.storage.store import Store
from hotmem.types import EvidenceKind, Hit, Layer, Query

SESSIONS: Final = 30
"""Sessions scored."""

SESSIONS_SEARCHED: Final = 3
"""Best sessions searched inside."""

PASSAGES_PER_SESSION: Final = 5
"""Passages taken from each."""

COSINE_SHARE: Final = 0.5
"""Part of a session's score that its summary's meaning has beside the words said in it."""


SAID_LIMITS: Final = {EvidenceKind.SUMMARY: 5, EvidenceKind.PASSAGE: 20, EvidenceKind.MEMORY: 10}
HAPPENED_LIMITS: Final = {EvidenceKind.PASSAGE: 20, EvidenceKind.MEMORY: 15}
"""Rows of a window that are taken."""


@dataclass(frozen=True, slots=True)
class Sessions:
    """Finds the conversation in which it was talked about."""

    store: Store
    layer: Layer = Layer.SESSIONS

    async def search(self, query: Query, until: float | None) -> Sequence[Hit]:
        """Summaries, one per session, and passages within the best sessions.

        With a window also what belongs to it, first if it is asked for.
        """
        timed = _window_searches(query)
        by_words, by_meaning, *of_window = await self.store.search(
            query.user,
            LexicalSearch(EvidenceKind.SUMMARY, query.terms, SESSIONS),
            VectorSearch(EvidenceKind.SUMMARY, query.vectors, SESSIONS),
            *timed,
            until=until,
        )
        ranked = blend_scores(dict(by_words), dict(by_meaning))
        summaries = [Hit(self.layer, EvidenceKind.SUMMARY, key, score) for key, score in ranked]
        best = [key for key, _ in ranked[:SESSIONS_SEARCHED]]
        (inside,) = await self.store.search(
            query.user,
            SessionSearch(best, query.vectors, SESSIONS_SEARCHED * PASSAGES_PER_SESSION),
            until=until,
        )
        usual = [
            *summaries,
            *(Hit(self.layer, EvidenceKind.PASSAGE, key, score) for key, score in inside),
        ]
        if not timed:
            return usual
        held = [
            Hit(self.layer, search.kind, key, 0.0)
            for search, found in zip(timed, of_window, strict=True)
            for key, _ in found
        ]
        return _unique_hits([*held, *usual] if requested_window(query) else [*usual, *held])


def _window_searches(query: Query) -> tuple[HappenedIn | SaidIn, ...]:
    """The searches for what belongs to the time that the query names.

    What happened then before what was said.
    """
    window = searchable_window(query.analysis)
    if window is None:
        return ()
    happened = (HappenedIn(kind, window, limit) for kind, limit in HAPPENED_LIMITS.items())
    return (
        *happened,
        *(SaidIn(kind, window, query.vectors, limit) for kind, limit in SAID_LIMITS.items()),
    )


def _unique_hits(hits: Sequence[Hit]) -> list[Hit]:
    """Each row where it stands first, with its best score."""
    kept: dict[tuple[EvidenceKind, int], Hit] = {}
    for hit in hits:
        earlier = kept.setdefault((hit.kind, hit.key), hit)
        if hit.score > earlier.score:
            kept[hit.kind, hit.key] = hit
    return list(kept.values())


def blend_scores(
    by_words: dict[int, float], by_meaning: dict[int, float]
) -> list[tuple[int, float]]:
    """Sessions by both scores, each scaled to at most 1, best first.

    Returns:
        Session row numbers and scores from 0 to 1.
    """
    most = max(by_words.values(), default=0.0) or 1.0
    keys = by_words.keys() | by_meaning.keys()
    scores = {
        key: (1 - COSINE_SHARE) * by_words.get(key, 0.0) / most
        + COSINE_SHARE * max(by_meaning.get(key, 0.0), 0.0)
        for key in keys
    }
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
