"""Hits of all layers become candidates.

One per piece of evidence, with every layer's score beside it.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from hotmem.text.stemming import stems
from hotmem.text.truncation import truncate
from hotmem.types import Evidence, EvidenceKind, Hit, Layer, Query

Key = tuple[EvidenceKind, int]

REPHRASED_WORDS: Final = stems("the user's is are was were has have had does do")
"""Words of a fact that its turn may say otherwise: "my dog" is "the user's dog"."""

MIN_CONTENT_WORDS: Final = 2
"""Other words that a fact must have to be recognised by them."""

MAX_COMPARED_CHARACTERS: Final = 20_000
"""Characters of a visible text whose words are compared; a message of more was pasted."""

RANK_CONSTANT: Final = 10
"""Reciprocal rank fusion's k; 60 for deep lists, less for lists of a hundred."""


class Candidate(NamedTuple):
    """A piece of evidence and what each layer gave it.

    Attributes:
        evidence: The statement.
        scores: Each layer's own score; empty for a neighbour that no layer found.
        session_score: What the session layer gave its session, 0 to 1.
    """

    evidence: Evidence
    scores: Mapping[Layer, float]
    session_score: float = 0.0


def pool_scores(hits: Sequence[Hit]) -> dict[Key, dict[Layer, float]]:
    """Each layer's best score of every row that was hit."""
    pool: dict[Key, dict[Layer, float]] = {}
    for hit in hits:
        scores = pool.setdefault((hit.kind, hit.key), {})
        scores[hit.layer] = max(hit.score, scores.get(hit.layer, hit.score))
    return pool


def top_hits(hits: Sequence[Hit], kind: EvidenceKind, limit: int) -> list[int]:
    """Row numbers of a kind's best hits, best first, by the sum of their reciprocal ranks in the layers (Cormack et al. 2009)."""
    ranks: Counter[Layer] = Counter()
    scores: defaultdict[int, float] = defaultdict(float)
    for hit in hits:
        if hit.kind is kind:
            scores[hit.key] += 1 / (RANK_CONSTANT + ranks[hit.layer])
            ranks[hit.layer] += 1
    return sorted(scores, key=scores.__getitem__, reverse=True)[:limit]


def fuse(
    pool: Mapping[Key, Mapping[Layer, float]], evidence: Sequence[Evidence]
) -> list[Candidate]:
    """Candidates in the order of the evidence."""
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
    """Candidates that the language model lacks, and those that it has before it already.

    The question itself is neither.

    A fact that was read in the live session tells nothing new if one visible text besides the
    question holds all its words, unless it corrects another candidate.
    """
    corrections = {candidate.evidence.replaced_by for candidate in candidates}
    asked = normalized(query.text)
    seen = [normalized(text) for text in visible]
    others = [text for text, folded in zip(visible, seen, strict=True) if folded != asked]
    said = [
        stems(
            text
            if len(text) <= MAX_COMPARED_CHARACTERS
            else truncate(text, MAX_COMPARED_CHARACTERS)
        )
        for text in others
    ]
    lacking: list[Candidate] = []
    already_visible: list[Candidate] = []
    for candidate in candidates:
        found = candidate.evidence
        live = found.session_id == query.session_id
        known = False
        if found.kind is EvidenceKind.MEMORY and live and found.key not in corrections:
            told = found.terms - REPHRASED_WORDS - stems(found.speaker or "")
            known = len(told) >= MIN_CONTENT_WORDS and any(told <= words for words in said)
        elif found.kind is EvidenceKind.PASSAGE and (seen or live):
            words = normalized(found.text)
            if (live and words == asked) or (asked in seen and words in asked):
                continue
            known = any(words in text for text in seen)
        (already_visible if known else lacking).append(candidate)
    return lacking, already_visible


def normalized(text: str) -> str:
    """The text in lower case with single spaces, for comparing."""
    return " ".join(text.casefold().split())
