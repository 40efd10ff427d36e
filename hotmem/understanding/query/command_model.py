"""A linear model of voice commands: probabilities from words, the encoder's vector and the rules.

Trained by `python -m eval train-commands`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from hotmem.core.logs import log
from hotmem.models.files import sha256
from hotmem.models.manifest import check_files, checksum_file
from hotmem.text.utterance import END, normalize
from hotmem.types import Vector
from hotmem.understanding.query.commands import CommandKind
from hotmem.understanding.term_model import TermIds

CLASSES: Final = (
    None, CommandKind.REMEMBER, CommandKind.FORGET_LAST, CommandKind.FORGET_ABOUT,
    CommandKind.FORGET_ALL, CommandKind.UNDO, CommandKind.LIST_ALL, CommandKind.EXPLAIN_SOURCE,
    CommandKind.SKIP_TURN, CommandKind.OFF_RECORD, CommandKind.ON_RECORD, CommandKind.LEAVE_OUT,
)  # fmt: skip
"""What the model tells apart; None is no command."""

MAX_TERM_WORDS: Final = 3
"""Words of the longest term."""

VECTOR_SCALE: Final = 4.0
"""Factor of the encoder's vector among the features, as the penalty of training is the same for
all."""

TERM_SCALE: Final = 2.5
"""Length of the vector of terms, likewise."""

_NAME: Final = "commands-2"
WEIGHTS: Final = Path(__file__).parents[2] / "models" / f"{_NAME}.safetensors"
"""The shipped weights."""

FloatArray = NDArray[np.float32]


def class_of(kind: CommandKind | None) -> CommandKind | None:
    """The class of a kind: a request not to keep the turn before is one to forget it."""
    return CommandKind.FORGET_LAST if kind is CommandKind.SKIP_LAST else kind


def term_ids(text: str) -> TermIds:
    """Return the sorted ids of an utterance's terms: one to three words in a row, and its ends."""
    words = ["<", *(word for word in normalize(text).split() if word != END), ">"]
    return np.unique(
        np.array(
            [
                term_id(" ".join(words[start : start + size]))
                for size in range(1, MAX_TERM_WORDS + 1)
                for start in range(len(words) - size + 1)
            ],
            dtype=np.uint32,
        )
    )


def term_id(term: str) -> int:
    """Return the id of a term, a 32-bit checksum."""
    return crc32(term.encode())


def features(ids: TermIds, terms: TermIds, vector: Vector, ruled: CommandKind | None) -> FloatArray:
    """Return the features of an utterance.

    Args:
        ids: The ids of its terms.
        terms: The sorted ids of the terms that the model knows.
        vector: The encoder's vector of it, of length 1.
        ruled: The kind of command that the rules found.
    """
    known = np.isin(terms, ids, assume_unique=True).astype(np.float32)
    known *= TERM_SCALE / max(float(np.linalg.norm(known)), 1.0)
    by_rules = np.array([one is class_of(ruled) for one in CLASSES], dtype=np.float32)
    return np.concatenate([vector * VECTOR_SCALE, by_rules, known]).astype(np.float32)


class CommandModel:
    """Tells commands from other utterances; thread-safe.

    Args:
        tensors: `terms` (sorted ids), `weights` (classes × features), `bias`.
    """

    def __init__(self, tensors: Mapping[str, NDArray[np.generic]]) -> None:
        self._terms = tensors["terms"].astype(np.uint32)
        self._weights = tensors["weights"].astype(np.float32)
        self._bias = tensors["bias"].astype(np.float32)

    @classmethod
    def load(cls, file: Path = WEIGHTS) -> Self | None:
        """Load weights; None, with a warning, if they are missing or not those published."""
        problems = (
            check_files(file.parent, checksum_file(_NAME))
            if file == WEIGHTS
            else []
            if sha256(file)
            else [f"{file.name} is missing"]
        )
        if problems:
            log.warning("voice commands are found by rules alone", reason="; ".join(problems))
            return None
        return cls(load_file(file))

    def probabilities(self, ids: TermIds, vector: Vector, ruled: CommandKind | None) -> FloatArray:
        """Return the probability of each of `CLASSES`; arguments as of `features`."""
        scores = self._weights @ features(ids, self._terms, vector, ruled) + self._bias
        exponents = np.exp(scores - scores.max())
        return np.asarray(exponents / exponents.sum(), dtype=np.float32)
