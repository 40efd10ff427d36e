"""Small memories made of long ones: a question put to single sessions of its history.

One that holds all of the question's evidence, and some that hold none, cut short. A memory of one session is what everybody begins with.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Final

from eval.labels import helps
from eval.retrieval import Asked
from hotmem.context.fusion import Candidate

WITHOUT: Final = 2
"""Sessions without evidence that each question is put to."""

CUTS: Final = (1, 3, 10, 40)
"""Candidates that such a session is cut to, one of these."""


def parts(asked: Asked, candidates: Sequence[Candidate]) -> Iterator[tuple[list[Candidate], bool]]:
    """Candidates of single sessions with whether they answer the question; which sessions is chosen by its id, the same in every run."""
    choice = Random(asked.question.id)
    turns = {turn.id: turn for turn in asked.conversation.turns}
    holding = {turns[turn].session_id for turn in asked.question.evidence}
    without = sorted({one.evidence.session_id for one in candidates} - holding)
    for session in choice.sample(without, min(WITHOUT, len(without))):
        yield [one for one in candidates if one.evidence.session_id == session][: choice.choice(CUTS)], False
    if len(holding) == 1 and not asked.question.abstain:
        part = [one for one in candidates if one.evidence.session_id in holding]
        if any(helps(one.evidence, asked.question.evidence, turns) for one in part):
            yield part, True
