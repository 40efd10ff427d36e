"""A linear model of a text's terms, and the file that such models come in."""

import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from hotmem.errors import ModelMissing
from hotmem.models.manifest import check_files, checksum_file

Tensors = Mapping[str, NDArray[np.generic]]
TermIds = NDArray[np.uint32]

_FOLDER: Final = Path(__file__).parents[1] / "models"


def load_tensors(name: str) -> Tensors:
    """Load a shipped model.

    Raises:
        ModelMissing: If it is missing or not the one published.
    """
    if problems := check_files(_FOLDER, checksum_file(name)):
        raise ModelMissing(f"{'; '.join(problems)}. Reinstall pipecat-hotmem.")
    return load_file(_FOLDER / f"{name}.safetensors")


@lru_cache
def load_term_model(file: str, name: str) -> "TermModel":
    """A shipped model, loaded once in a process."""
    return TermModel.of(load_tensors(file), name)


class TermModel:
    """A logistic regression on which terms a text has; thread-safe.

    Args:
        terms: Sorted ids of the terms that it knows, uint32, shape (n,).
        weights: Their weights, shape (n,).
        bias: The bias, shape (1,).
    """

    def __init__(
        self, terms: NDArray[np.generic], weights: NDArray[np.generic], bias: NDArray[np.generic]
    ) -> None:
        self._terms, self._weights = terms, weights.astype(np.float32)
        self._bias = float(bias[0])

    @classmethod
    def of(cls, tensors: Tensors, name: str) -> Self:
        """The model of the tensors with a name."""
        return cls(*(tensors[f"{name}_{part}"] for part in ("terms", "weights", "bias")))

    def logit(self, ids: TermIds) -> float:
        """The log-odds for a text with these terms."""
        indices = np.searchsorted(self._terms[:-1], ids)
        known = indices[self._terms[indices] == ids]
        return float(self._weights[known].sum() / max(len(known), 1) ** 0.5 + self._bias)


def logistic(logit: float) -> float:
    """The probability of log-odds."""
    return 1 / (1 + math.exp(-logit))
