"""Blocks of retrieved candidates, packed with the shipped limits."""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Final

from eval.datasets import Question
from hotmem.block.packing import Packed, pack
from hotmem.models import TokenCounter
from hotmem.options import ModelOptions, RecallOptions
from hotmem.ranking.relevance import Answerability
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.retrieval.context import Retrieved

BUDGET: Final = 1000
"""Maximum tokens of a block."""

MOST_COUNTED: Final = 2**18
"""Size of the cache of token counts; a question's lines are counted again under other weights."""


@cache
def _count() -> Callable[[str], int]:
    """Count the tokens of a text, with a cache."""
    return lru_cache(MOST_COUNTED)(TokenCounter.load(ModelOptions().encoding).count)


def packed(
    found: Retrieved,
    statements: Sequence[ScoredCandidate],
    known: Answerability = Answerability.SOMETHING,
) -> Packed:
    """Pack the block; by default the query is taken as answerable."""
    if known is Answerability.NOTHING:
        return Packed()
    return pack(found.query, statements, known, BUDGET, _count(), RecallOptions())


def has_evidence(question: Question) -> bool:
    """Return whether a question has known evidence, so that a block can be scored."""
    return bool(question.evidence) and not question.abstain
