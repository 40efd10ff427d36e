"""What a voice command is."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from hotmem.models.files import load_shipped
from hotmem.text.validation import END, normalize
from hotmem.types import Vector
from hotmem.understanding.term_model import TermIds


class CommandKind(StrEnum):
    """The kind of a voice command."""

    REMEMBER = "remember"
    FORGET_LAST = "forget last"
    FORGET_ABOUT = "forget about"
    FORGET_FACT = "forget fact"
    FORGET_ALL = "forget all"
    UNDO = "undo"
    LIST_ALL = "list all"
    EXPLAIN_SOURCE = "explain source"
    OFF_RECORD = "off record"
    ON_RECORD = "on record"
    SKIP_TURN = "skip turn"
    LEAVE_OUT = "leave out"
    SKIP_LAST = "skip last"


DELETIONS: Final = frozenset(
    {
        CommandKind.FORGET_LAST,
        CommandKind.FORGET_ABOUT,
        CommandKind.FORGET_FACT,
        CommandKind.FORGET_ALL,
    }
)
"""Commands that delete, which the user must confirm."""

NOT_STORED: Final = frozenset(
    {CommandKind.OFF_RECORD, CommandKind.SKIP_TURN, CommandKind.SKIP_LAST}
)
"""Commands that exclude turns from the memory."""

USER_ONLY: Final = DELETIONS | {
    CommandKind.UNDO,
    CommandKind.SKIP_LAST,
    CommandKind.ON_RECORD,
    CommandKind.LIST_ALL,
    CommandKind.EXPLAIN_SOURCE,
}
"""Commands that only the user may give, not other speakers."""


@dataclass(frozen=True, slots=True)
class Command:
    """A voice command.

    Attributes:
        kind: The kind of command.
        about: Of `FORGET_ABOUT`, the topic, without a determiner; of `FORGET_FACT`, the statement.
        turns: Of `SKIP_LAST`, the number of the user's turns.
        continues: Of `ON_RECORD`, whether the rest of the utterance is to be stored.
        restated: Of one that deletes, what the utterance says holds instead.
    """

    kind: CommandKind
    about: str = ""
    turns: int = 1
    continues: bool = False
    restated: str = ""


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
    def load(cls) -> Self:
        """Load the shipped model; blocking.

        Raises:
            ModelMissing: If it is missing, or not the published one.
        """
        return cls(load_shipped("commands-2.npz"))

    def probabilities(self, ids: TermIds, vector: Vector, ruled: CommandKind | None) -> FloatArray:
        """Return the probability of each of `CLASSES`; arguments as of `features`."""
        scores = self._weights @ features(ids, self._terms, vector, ruled) + self._bias
        exponents = np.exp(scores - scores.max())
        return np.asarray(exponents / exponents.sum(), dtype=np.float32)
