"""Fusion: the hits of all layers become candidates, one for each piece of evidence."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from hotmem.text.passages import truncate
from hotmem.text.stemming import STOP_STEMS, stems
from hotmem.types import Evidence, EvidenceKind, Hit, Layer, Query, Role
from hotmem.understanding.query.cues import DIRECT_QUESTION

RANK_CONSTANT: Final = 10
"""The constant k of reciprocal rank fusion: 60 for deep rankings, less for those of about 100."""


def reciprocal_rank_fusion(rankings: Iterable[Iterable[int]]) -> list[tuple[int, float]]:
    """Fuse rankings: each key with the sum of its reciprocal ranks, best first.

    Args:
        rankings: Keys, best first in each ranking.
    """
    scores: defaultdict[int, float] = defaultdict(float)
    for ranking in rankings:
        for rank, key in enumerate(ranking):
            scores[key] += 1 / (RANK_CONSTANT + rank)
    return sorted(scores.items(), key=lambda pair: -pair[1])


Key = tuple[EvidenceKind, int]

REPHRASED_WORDS: Final = stems("the user's and others is are was were has have had does do")
"""Words of a fact that its turn may word otherwise: "the user's dog" for "my dog", "the user and
others" for "we"."""

MIN_CONTENT_WORDS: Final = 2
"""Number of other words that a fact needs to be recognized in a visible text."""

MAX_COMPARED_CHARACTERS: Final = 20_000
"""Characters of a visible text that are compared; a longer one was pasted."""


ASKING: Final = stems("ask asked asking")
"""Words of a query about the user's questions."""


class Candidate(NamedTuple):
    """A piece of evidence and its scores.

    Attributes:
        evidence: The statement.
        scores: The score of each layer that found it; empty for a neighbouring passage.
        session_score: The session layer's score of its session, 0 to 1.
    """

    evidence: Evidence
    scores: Mapping[Layer, float]
    session_score: float = 0.0


def pool_scores(hits: Sequence[Hit]) -> dict[Key, dict[Layer, float]]:
    """The best score of each row in each layer."""
    pool: dict[Key, dict[Layer, float]] = {}
    for hit in hits:
        scores = pool.setdefault((hit.kind, hit.key), {})
        scores[hit.layer] = max(hit.score, scores.get(hit.layer, hit.score))
    return pool


def top_hits(hits: Sequence[Hit], kind: EvidenceKind, limit: int) -> list[int]:
    """Row numbers of the best hits of a kind, by reciprocal rank fusion of the layers.

    Args:
        hits: The hits, best first within each layer and kind.
        kind: The kind.
        limit: Number of rows.
    """
    rankings: defaultdict[Layer, list[int]] = defaultdict(list)
    for hit in hits:
        if hit.kind is kind:
            rankings[hit.layer].append(hit.key)
    return [key for key, _ in reciprocal_rank_fusion(rankings.values())[:limit]]


def fuse(
    pool: Mapping[Key, Mapping[Layer, float]], evidence: Sequence[Evidence]
) -> list[Candidate]:
    """Combine evidence with its scores.

    Args:
        pool: The scores, from `pool_scores`.
        evidence: The evidence that was loaded.

    Returns:
        One candidate for each piece of evidence, in the same order.
    """
    sessions = {
        key: scores.get(Layer.SESSIONS, 0.0)
        for (kind, key), scores in pool.items()
        if kind is EvidenceKind.SUMMARY
    }
    return [
        Candidate(found, pool.get((found.kind, found.key), {}), sessions.get(found.session, 0.0))
        for found in evidence
    ]


def split_visible(
    candidates: Sequence[Candidate], visible: Sequence[str], query: Query
) -> tuple[list[Candidate], list[Candidate]]:
    """Separate the candidates that are in the visible conversation already.

    A passage, and a fact that was read from it, is visible if a visible text contains it. A
    fact of the live session is visible if a visible text other than the query contains all its
    words, unless the fact corrects another candidate. The query itself is dropped, and so are
    earlier questions of the user without another word, unless it is about what was asked.

    Args:
        candidates: The candidates.
        visible: Texts that are in the language model's context.
        query: The analysed utterance.

    Returns:
        The new candidates, and those already visible.
    """
    corrections = {candidate.evidence.replaced_by for candidate in candidates}
    asked = normalized(query.text)
    query_words = stems(query.text, query.index_language) | query.stems
    seen = [normalized(text) for text in visible]
    seen_stems = [
        stems(
            text
            if len(text) <= MAX_COMPARED_CHARACTERS
            else truncate(text, MAX_COMPARED_CHARACTERS),
            query.index_language,
        )
        for text, folded in zip(visible, seen, strict=True)
        if folded != asked
    ]
    new: list[Candidate] = []
    already_visible: list[Candidate] = []
    for candidate in candidates:
        found = candidate.evidence
        live = found.session_id == query.session_id
        if is_asked_again(found, query, query_words):
            continue
        known = False
        if found.kind is EvidenceKind.MEMORY and live and found.key not in corrections:
            own = stems(found.speaker or "", query.index_language)
            content = found.terms - REPHRASED_WORDS - own
            known = len(content) >= MIN_CONTENT_WORDS and any(
                content <= words for words in seen_stems
            )
        if found.kind is not EvidenceKind.SUMMARY and (seen or live):
            text = normalized(found.quote.text if found.quote else found.text)
            if (live and text == asked) or (asked in seen and text in asked):
                continue
            if not found.quote or len(stems(text) - STOP_STEMS) >= MIN_CONTENT_WORDS:
                known = known or any(text in other for other in seen)
        (already_visible if known else new).append(candidate)
    return new, already_visible


def is_asked_again(found: Evidence, query: Query, query_words: frozenset[str]) -> bool:
    """Whether a statement is a question of the user that the query repeats: it states nothing.

    Args:
        found: The statement.
        query: The analysed utterance.
        query_words: Stems of its words, and of those that its references may mean.
    """
    words = found.terms - STOP_STEMS
    if found.role is not Role.USER or not words or not words <= query_words:
        return False
    if not query_words.isdisjoint(ASKING):
        return False
    same = query.analysis.question and normalized(found.text) == normalized(query.text)
    return same or DIRECT_QUESTION.search(found.text) is not None


def normalized(text: str) -> str:
    """The text in lower case with single spaces, for comparison."""
    return " ".join(text.casefold().split())
