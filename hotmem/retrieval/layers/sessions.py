"""Sessions: the sessions about the query, then the best passages within the best of them.

If the query names a time, also the rows of that time. The cost grows with the number of sessions
and with the length of the few that are searched, not with the number of turns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hotmem.retrieval.requested_window import requested_window, searchable_window
from hotmem.storage.search.engine import SearchEngine
from hotmem.storage.search.searches import (
    HappenedIn,
    LexicalSearch,
    SaidIn,
    SessionSearch,
    VectorSearch,
)
from hotmem.types import EvidenceKind, Hit, Layer, Query

MAX_SESSIONS: Final = 30
"""Number of sessions taken from each search."""

SESSIONS_SEARCHED: Final = 3
"""Number of best sessions within which passages are searched."""

PASSAGES_PER_SESSION: Final = 5
"""Number of passages taken from each, on average."""

COSINE_SHARE: Final = 0.5
"""Share of the cosine of its summary in the score of a session; BM25 has the rest."""

SAID_LIMITS: Final = {EvidenceKind.SUMMARY: 5, EvidenceKind.PASSAGE: 20, EvidenceKind.MEMORY: 10}
HAPPENED_LIMITS: Final = {EvidenceKind.PASSAGE: 20, EvidenceKind.MEMORY: 15}
"""Number of rows taken from the time that the query names: said then, and about it."""


@dataclass(frozen=True, slots=True)
class Sessions:
    """Searches sessions, and passages within the best of them."""

    engine: SearchEngine
    layer: Layer = Layer.SESSIONS

    async def search(self, query: Query, until: float | None) -> Sequence[Hit]:
        """Summaries, one for each session, and passages within the best sessions.

        If the query names a time, also rows of that time, first if it requests that window.
        """
        window_searches = _window_searches(query)
        by_words, by_meaning, *of_window = await self.engine.search(
            query.user,
            LexicalSearch(EvidenceKind.SUMMARY, query.terms, MAX_SESSIONS),
            VectorSearch(EvidenceKind.SUMMARY, query.vectors, MAX_SESSIONS),
            *window_searches,
            until=until,
            states=query.index_states,
        )
        ranked = blend_scores(dict(by_words), dict(by_meaning))
        summaries = [Hit(self.layer, EvidenceKind.SUMMARY, key, score) for key, score in ranked]
        best = [key for key, _ in ranked[:SESSIONS_SEARCHED]]
        (inside,) = await self.engine.search(
            query.user,
            SessionSearch(best, query.vectors, SESSIONS_SEARCHED * PASSAGES_PER_SESSION),
            until=until,
            states=query.index_states,
        )
        usual = [
            *summaries,
            *(Hit(self.layer, EvidenceKind.PASSAGE, key, score) for key, score in inside),
        ]
        if not window_searches:
            return usual
        within = [
            Hit(self.layer, search.kind, key, 0.0)
            for search, found in zip(window_searches, of_window, strict=True)
            for key, _ in found
        ]
        return _unique_hits([*within, *usual] if requested_window(query) else [*usual, *within])


def _window_searches(query: Query) -> tuple[HappenedIn | SaidIn, ...]:
    """The searches for rows of the time that the query names.

    Rows about that time precede rows said then.
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
    """Each row at its first position, with its best score."""
    kept: dict[tuple[EvidenceKind, int], Hit] = {}
    for hit in hits:
        earlier = kept.setdefault((hit.kind, hit.key), hit)
        if hit.score > earlier.score:
            kept[hit.kind, hit.key] = hit
    return list(kept.values())


def blend_scores(
    by_words: dict[int, float], by_meaning: dict[int, float]
) -> list[tuple[int, float]]:
    """Blend BM25 scores and cosines of sessions.

    Returns:
        Row numbers of the sessions and scores, 0 to 1, best first.
    """
    most = max(by_words.values(), default=0.0) or 1.0
    keys = by_words.keys() | by_meaning.keys()
    scores = {
        key: (1 - COSINE_SHARE) * by_words.get(key, 0.0) / most
        + COSINE_SHARE * max(by_meaning.get(key, 0.0), 0.0)
        for key in keys
    }
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
