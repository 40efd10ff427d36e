"""Whether memory can help: not with small talk, device commands or general questions.

A linear model of an utterance's words and of its embedding. Trained by `python -m eval
train-needs`.
"""

from functools import lru_cache
from typing import Final

import numpy as np

from hotmem.types import Vector
from hotmem.understanding.query.command_model import term_ids
from hotmem.understanding.term_model import TermModel, load_tensors, logistic

MIN_NEED: Final = 0.1
"""Probability from which memory is asked. Little: what is not asked cannot be answered, what is
asked for nothing costs some tokens (`python -m eval need`)."""


@lru_cache(maxsize=1)
def load_model() -> tuple[TermModel, Vector]:
    """The shipped model of the words, and the weights of the embedding, loaded once."""
    tensors = load_tensors("needs-1")
    return TermModel.of(tensors, "need"), tensors["need_vector"].astype(np.float32)


def need(text: str, vector: Vector) -> float:
    """The probability that memory helps with an utterance.

    Args:
        text: The utterance.
        vector: Its embedding by the encoder that the model was trained on, a unit row.

    Returns:
        The probability, 0 to 1. It is 1 for a script other than Latin, which the model cannot read.
    """
    if any(one > "\u024f" and not "\u2010" <= one <= "\u2027" for one in text):
        return 1.0
    model, weights = load_model()
    return logistic(model.logit(term_ids(text)) + float(weights @ vector))
