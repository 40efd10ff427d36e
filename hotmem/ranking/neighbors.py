"""Neighbours of each candidate: the passages before and after it, and its session."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from hotmem.core.vector_math import matmul
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.text.stemming import stems
from hotmem.types import Evidence, EvidenceKind, Interval


@dataclass(frozen=True, slots=True, eq=False)
class Neighbors:
    """Rows of the neighbouring candidates of each candidate.

    Attributes:
        before: Row of the passage before each, intp (n,); -1 where it is not among the candidates.
        after: Row of the passage after each, likewise.
        sessions: Index of each candidate's session, from 0, intp (n,).
    """

    before: NDArray[np.intp]
    after: NDArray[np.intp]
    sessions: NDArray[np.intp]

    @classmethod
    def of(cls, evidence: Sequence[Evidence]) -> Self:
        """Find the neighbours of candidates given in any order."""
        rows = {
            (found.session, found.position): row
            for row, found in enumerate(evidence)
            if found.kind is EvidenceKind.PASSAGE
        }

        def rows_at(step: int) -> NDArray[np.intp]:
            found_rows = [
                rows.get((found.session, found.position + step), -1)
                if found.kind is EvidenceKind.PASSAGE
                else -1
                for found in evidence
            ]
            return np.array(found_rows, dtype=np.intp)

        indices: dict[int, int] = {}
        sessions = np.array(
            [indices.setdefault(found.session, len(indices)) for found in evidence], dtype=np.intp
        )
        return cls(rows_at(-1), rows_at(1), sessions)

    def adjacent(self, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The values (n, ...) of the passage before and of the passage after; 0 without one."""
        padded = np.concatenate([values, np.zeros_like(values[:1])]) if len(values) else values
        return np.asarray(padded[self.before]), np.asarray(padded[self.after])

    def window_max(self, values: NDArray[Any]) -> NDArray[Any]:
        """The largest value (n, ...) of each candidate and its adjacent passages."""
        before, after = self.adjacent(values)
        return np.asarray(np.maximum(np.maximum(before, after), values))

    def session_max(self, values: NDArray[Any]) -> NDArray[Any]:
        """The largest value (n, ...) within each candidate's session."""
        if not len(values):
            return values
        order = np.argsort(self.sessions, kind="stable")
        starts = np.searchsorted(self.sessions[order], np.arange(self.sessions.max() + 1))
        return np.asarray(np.maximum.reduceat(values[order], starts, axis=0)[self.sessions])


MIN_COSINE: Final = 0.95
"""Cosine from which two statements are near-duplicates."""

FACT_COVERAGE: Final = 0.8
"""Share of a passage's words that a fact extracted from it must contain to replace it."""

MIN_FACT_RELEVANCE: Final = 0.08
"""Relevance from which a fact is preferred to its passage."""

DENIALS: Final = stems("no not don't never none nothing nobody without") - {"don"}
"""Stems of words by which a statement says the opposite."""

FACT, PASSAGE = EvidenceKind.MEMORY, EvidenceKind.PASSAGE
COUNTERPART: Final = {FACT: PASSAGE, PASSAGE: FACT}
"""The kind of evidence that can repeat a memory, and a passage."""


def deduplicate(candidates: Sequence[ScoredCandidate]) -> tuple[list[ScoredCandidate], int]:
    """Merge candidates that state the same.

    A fact replaces the passage it was extracted from if it contains that passage's words. Of
    near-duplicates the better one remains. In both cases the layers of both are listed.

    Args:
        candidates: Candidates, best first.

    Returns:
        The distinct statements, best first, and how many were merged into another.
    """
    said: defaultdict[tuple[EvidenceKind | None, str], list[int]] = defaultdict(list)
    kept: dict[int, ScoredCandidate] = {}
    representatives: list[int] = []
    near = _near_duplicates(candidates)
    for row, one in enumerate(candidates):
        kind, turns = one.evidence.kind, one.evidence.turn_ids
        earlier = near[row] + [at for turn in turns for at in said[COUNTERPART.get(kind), turn]]
        same = (at for at in earlier if _is_duplicate(one.evidence, candidates[at].evidence))
        first = next((representatives[at] for at in same), row)
        kept[first] = one if first == row else _merge(kept[first], one)
        representatives.append(first)
        for turn in turns:
            said[kind, turn].append(row)
    return list(kept.values()), len(candidates) - len(kept)


def _near_duplicates(candidates: Sequence[ScoredCandidate]) -> list[list[int]]:
    """For each candidate the better ones with its words or nearly its embedding.

    Returns:
        Rows of the candidates, best first.
    """
    found: list[list[int]] = [[] for _ in candidates]
    first: dict[tuple[str | None, str, frozenset[Interval]], int] = {}
    for row, one in enumerate(candidates):
        same_words = first.setdefault(
            (one.evidence.speaker, one.evidence.text.casefold(), _times(one.evidence)), row
        )
        if same_words < row:
            found[row].append(same_words)
    embedded = [
        (row, one.evidence.vector)
        for row, one in enumerate(candidates)
        if one.evidence.vector is not None and one.evidence.kind is not EvidenceKind.SUMMARY
    ]
    if embedded:
        vectors = np.stack([vector for _, vector in embedded])
        for later, earlier in np.argwhere(np.tril(matmul(vectors, vectors.T) >= MIN_COSINE, k=-1)):
            found[embedded[later][0]].append(embedded[earlier][0])
    return found


def _is_duplicate(one: Evidence, better: Evidence) -> bool:
    """Whether two similar statements state the same.

    A fact and the passage that it covers, or a statement that adds no word to the better one.
    """
    if one.kind is not better.kind:
        passage = better if one.kind is FACT else one
        return len(one.terms & better.terms) >= FACT_COVERAGE * len(passage.terms)
    if one.times and better.times and _times(one) != _times(better):
        return False  # "tomorrow" names another day each time
    more = better.terms - one.terms
    return one.speaker == better.speaker and better.terms >= one.terms and not more & DENIALS


def _times(found: Evidence) -> frozenset[Interval]:
    return frozenset(time for _, time in found.times)


def _merge(better: ScoredCandidate, other: ScoredCandidate) -> ScoredCandidate:
    """The preferred one of the two, with the layers of both and the higher scores."""
    preferred = max(better, other, key=_preference)
    return replace(
        preferred,
        relevance=max(better.relevance, other.relevance),
        layers=tuple(dict.fromkeys((*preferred.layers, *better.layers, *other.layers))),
        score_floor=max(better.score_floor, other.score_floor),
        in_window=better.in_window or other.in_window,
    )


def _preference(one: ScoredCandidate) -> int:
    """A fact relevant enough to be shown precedes its passage, which precedes any other fact."""
    is_fact = one.evidence.kind is FACT
    return 1 - is_fact if one.relevance < MIN_FACT_RELEVANCE else 1 + is_fact
