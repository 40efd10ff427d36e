"""What stands around each candidate: the passages before and after it, and its session."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hotmem.types import Evidence, EvidenceKind


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """Rows of the candidates around each candidate.

    Attributes:
        before: Row of the passage before each, intp (n,); -1 where it is not among the candidates.
        after: Row of the passage after each, likewise.
        sessions: Number of each candidate's session, from 0, intp (n,).
    """

    before: NDArray[np.intp]
    after: NDArray[np.intp]
    sessions: NDArray[np.intp]

    @classmethod
    def of(cls, evidence: Sequence[Evidence]) -> Self:
        """The surroundings of candidates in any order."""
        rows = {
            (found.session, found.position): row
            for row, found in enumerate(evidence)
            if found.kind is EvidenceKind.PASSAGE
        }

        def beside(step: int) -> NDArray[np.intp]:
            places = [
                rows.get((found.session, found.position + step), -1)
                if found.kind is EvidenceKind.PASSAGE
                else -1
                for found in evidence
            ]
            return np.array(places, dtype=np.intp)

        numbers: dict[int, int] = {}
        sessions = np.array(
            [numbers.setdefault(found.session, len(numbers)) for found in evidence], dtype=np.intp
        )
        return cls(beside(-1), beside(1), sessions)

    def neighbours(self, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The values (n, ...) of the passage before and of the one after; 0 where there is none."""
        padded = np.concatenate([values, np.zeros_like(values[:1])]) if len(values) else values
        return np.asarray(padded[self.before]), np.asarray(padded[self.after])

    def window(self, values: NDArray[Any]) -> NDArray[Any]:
        """The largest of a candidate's value (n, ...) and its neighbours'."""
        before, after = self.neighbours(values)
        return np.asarray(np.maximum(np.maximum(before, after), values))

    def session(self, values: NDArray[Any]) -> NDArray[Any]:
        """The largest value (n, ...) within each candidate's session."""
        if not len(values):
            return values
        order = np.argsort(self.sessions, kind="stable")
        starts = np.searchsorted(self.sessions[order], np.arange(self.sessions.max() + 1))
        return np.asarray(np.maximum.reduceat(values[order], starts, axis=0)[self.sessions])
