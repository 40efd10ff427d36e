"""Blocks under any model: candidates are ranked and packed as in a recall."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from eval.datasets import Question
from eval.evidence import score
from eval.retrieval import RetrievedQuestion
from hotmem.block.packing import Packed, pack
from hotmem.block.quotes import quotes
from hotmem.models import TokenCounter
from hotmem.options import ModelOptions, RecallOptions
from hotmem.ranking.ranker import rank
from hotmem.ranking.relevance import Answerability, RelevanceModel
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.retrieval.context import Retrieved

BUDGETS: Final = (500, 1000)
"""Maximum tokens of the compared blocks."""


MOST_COUNTED: Final = 2**18
"""Size of the cache of token counts; a question's lines are counted again under every model."""


@cache
def _count() -> Callable[[str], int]:
    """Count the tokens of a text, with a cache."""
    return lru_cache(MOST_COUNTED)(TokenCounter.load(ModelOptions().encoding).count)


@dataclass(frozen=True, slots=True)
class Packer:
    """Packs blocks with the shipped limits.

    Attributes:
        count: Counts tokens.
        options: Limits and marks.
    """

    count: Callable[[str], int] = field(default_factory=_count)
    options: RecallOptions = field(default_factory=RecallOptions)

    def pack(
        self,
        found: Retrieved,
        statements: Sequence[ScoredCandidate],
        budget: int,
        known: Answerability = Answerability.SOMETHING,
    ) -> Packed:
        """Pack the block of a budget; by default the query is taken as answerable."""
        return (
            Packed()
            if known is Answerability.NOTHING
            else pack(found.query, statements, known, budget, self.count, self.options)
        )

    def delivered(
        self, asked: RetrievedQuestion, found: Retrieved, statements: Sequence[ScoredCandidate]
    ) -> tuple[float, ...]:
        """Return the share of the question's evidence, 0 to 1, in the block of each of `BUDGETS`.

        The question must have evidence.
        """
        packed = [self.pack(found, statements, budget) for budget in BUDGETS]
        shares = [
            score(asked.question, asked.conversation, one.text, one.items).delivered
            for one in packed
        ]
        return tuple(share for share in shares if share is not None)


def judged(
    found: Retrieved, features: NDArray[np.float32], model: RelevanceModel
) -> tuple[list[ScoredCandidate], Answerability]:
    """Rank the candidates for the largest budget, duplicates included, and decide answerability."""
    ranking = rank(
        found.query, found.candidates, features, model, found.profile.weights, max(BUDGETS)
    )
    return list(ranking.candidates), ranking.answerability


def statements(
    found: Retrieved, features: NDArray[np.float32], model: RelevanceModel
) -> list[ScoredCandidate]:
    """Rank the statements, without duplicates."""
    return quotes(judged(found, features, model)[0])[0]


def scored(asked: RetrievedQuestion) -> bool:
    """Return whether the question's evidence is known, so that a block can be scored."""
    return known(asked.question)


def known(question: Question) -> bool:
    """Return whether a question has known evidence."""
    return bool(question.evidence) and not question.abstain
