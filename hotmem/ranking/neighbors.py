"""Neighbours of each candidate: the passages before and after it, and its session."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hotmem.types import Evidence, EvidenceKind


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
