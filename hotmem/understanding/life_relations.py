"""What a statement tells of somebody's life, such as where they live.

For the start of a session, which gives the lasting facts, the most important first. A linear model
of the statement's embedding; `python -m eval train-relations` trains it.
"""

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.models.files import load_shipped
from hotmem.types import Vector

OTHER: Final = "other"

RELATIONS: Final = (
    OTHER,
    "allergy",
    "condition",
    "medicine",
    "diet",
    "partner",
    "relative",
    "pet",
    "lives-in",
    "works",
    "studies",
    "origin",
    "born",
)
"""What is told apart."""

IMPORTANCE: Final = dict.fromkeys(RELATIONS[1:], 4) | {"allergy": 5, "condition": 5, "medicine": 5}
"""Importance of the statements that have one, 1 to 5."""

CHANGING: Final = frozenset({"medicine", "diet", "partner", "lives-in", "works", "studies"})
"""Those that change with time, so that confidence in them decreases."""

CERTAIN: Final = 0.6
"""Probability from which a statement has a relation."""


def life_relation(vector: Vector) -> str:
    """Return one of `RELATIONS`; `OTHER` unless another is probable enough.

    Args:
        vector: The statement's embedding by the default encoder, float32 (384,).
    """
    weights, bias = _model()
    scores = vector @ weights + bias
    shares = np.exp(scores - scores.max())
    best = int(shares.argmax())
    return RELATIONS[best] if shares[best] >= CERTAIN * shares.sum() else OTHER


@lru_cache
def _model() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    tensors = load_shipped("relations-1.npz")
    return tensors["weights"].astype(np.float32), tensors["bias"].astype(np.float32)
