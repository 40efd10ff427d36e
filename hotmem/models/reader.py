"""The reader: what of a turn is worth remembering, and what a turn does to a known statement.

    a text ─▶ layers shared with the encoder ─┬▶ upper layers over both ─▶ linear heads
    another ─▶ the same ──────────────────────┘

The lower layers read each text alone, so that a text that is embedded, read and compared passes
through them once (as in DeFormer: Cao et al. 2020, https://aclanthology.org/2020.acl-main.411). The
upper ones, with low-rank changes of their own, see both texts. `python -m eval reader train` trains
it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hotmem.models.encoder import Vectors
from hotmem.models.encoders import TextLayers, TokenStates, open_session, run_graph, text_layers
from hotmem.models.files import load_shipped, read_shipped

KINDS: Final = (
    "fact",
    "preference",
    "relationship",
    "plan",
    "reminder",
    "event",
    "instruction",
    "code",
)
"""What a part of a turn may be."""

DOUBTS: Final = ("sure", "hedged", "hearsay")
"""How it may be said."""

EFFECTS: Final = ("unrelated", "same", "adds", "corrects", "replaces", "ends", "contradicts")
"""What a turn may do to a known statement."""

OUTDATING: Final = ("corrects", "replaces", "ends")
"""Effects after which the statement no longer holds."""

HEADS: Final = "head."
"""Prefix of the names of the heads' tensors."""

SETTINGS: Final = "setting."
"""Prefix of the names of the settings' tensors."""

SEGMENT: Final = "segment"
"""Name of the tensor that is added to the states of the second text, (dimension,)."""

MATCH: Final = "match"
"""Name of the tensor that is added to the states of tokens that both texts have, likewise."""

FIRST_WORD: Final = 1_996
"""The least id of a token that is a word, or a part of one; punctuation is below."""

MAX_READ_TOKENS: Final = 160
"""Maximum tokens of two texts together, with the special ones. More are cut off the longer text."""

MAX_READ_CHARACTERS: Final = 1_500
"""Maximum characters of each of two texts, more than the tokens above have. The tokenizer takes
time that grows with the square of what it cuts off, and holds the interpreter's lock."""

MAX_GAP: Final = 1
"""Words between two parts of the same kind that are read as one."""

_Array: TypeAlias = NDArray[np.float32]


class ReaderLimits(NamedTuple):
    """Limits fitted on turns and pairs that were not trained on.

    Attributes:
        temperature: Divides the scores of effects, so that probabilities are calibrated.
        kept: Probability from which a turn holds something worth remembering.
        part: Probability from which a word belongs to it.
        outdated: Probability from which a known statement no longer holds.
        doubted: Probability from which it is possibly outdated.
    """

    temperature: float = 1.0
    kept: float = 0.5
    part: float = 0.5
    outdated: float = 0.9
    doubted: float = 0.5


@dataclass(frozen=True, slots=True)
class TurnPart:
    """A part of a turn that is worth remembering.

    Attributes:
        start: Its first character.
        stop: One past its last character.
        kind: One of `KINDS`.
        doubt: One of `DOUBTS`.
        probability: That its words are worth remembering, 0 to 1.
    """

    start: int
    stop: int
    kind: str
    doubt: str
    probability: float


@dataclass(frozen=True, slots=True)
class TurnReading:
    """What a turn holds.

    Attributes:
        kept: Probability that it holds anything worth remembering, 0 to 1.
        parts: The parts, in the order of their words; none below the limit.
    """

    kept: float
    parts: tuple[TurnPart, ...]


class Effects(NamedTuple):
    """The probability of each effect of a turn on a known statement; they add up to 1."""

    unrelated: float
    same: float
    adds: float
    corrects: float
    replaces: float
    ends: float
    contradicts: float

    @property
    def outdated(self) -> float:
        """The probability that the statement no longer holds."""
        return self.corrects + self.replaces + self.ends

    @property
    def doubted(self) -> float:
        """The probability that it no longer holds, or may not."""
        return self.outdated + self.contradicts


class Reader:
    """Reads turns; blocking and thread-safe.

    Args:
        model: The upper layers, an ONNX graph.
        tensors: Heads, settings, `SEGMENT` and `MATCH` by name.
        layers: The lower layers.
    """

    def __init__(
        self, model: bytes, tensors: Mapping[str, NDArray[np.generic]], layers: TextLayers
    ) -> None:
        self._session = open_session(model)
        self._layers = layers
        self._segment, self._match = (tensors[n].astype(np.float32) for n in (SEGMENT, MATCH))
        self._heads = {
            name.removeprefix(HEADS): value.astype(np.float32)
            for name, value in tensors.items()
            if name.startswith(HEADS)
        }
        self.settings = ReaderLimits(
            **{
                name.removeprefix(SETTINGS): float(value[0])
                for name, value in tensors.items()
                if name.startswith(SETTINGS)
            }
        )

    @classmethod
    def load(cls) -> Self:
        """Load the shipped reader; blocking.

        Raises:
            ModelMissing: If it is missing, or not the published one.
        """
        return cls(read_shipped("reader-2.onnx"), load_shipped("reader-2.npz"), text_layers())

    def read(self, before: str, text: str) -> TurnReading:
        """Return what of a turn is worth remembering.

        Args:
            before: What the bot had just said; "" for nothing.
            text: The turn, of at most some hundred words; see `MAX_READ_TOKENS`.
        """
        first, read = self._cut(before, text)
        states = self._states(first, read)
        second = states[len(first.pieces) + 1 : -1]
        if not len(second):
            return TurnReading(0.0, ())
        pooled = np.concatenate([states[0], second.mean(axis=0)])
        kept = float(_sigmoid(self._scores("kept", pooled[None])[0, 0]))
        if kept < self.settings.kept:
            return TurnReading(kept, ())
        extents = [match.span() for match in re.finditer(r"\S+", text)]
        words = _words_of(read.spans[1:-1], extents)
        kinds = _by_word(_softmax(self._scores("part", second)), words)
        doubts = _by_word(_softmax(self._scores("doubt", second)), words)
        return TurnReading(kept, tuple(self._parts(kinds, doubts, extents)))

    def _parts(
        self, kinds: _Array, doubts: _Array, extents: Sequence[tuple[int, int]]
    ) -> list[TurnPart]:
        """Join the words that belong to a part."""
        return [
            TurnPart(
                extents[first][0],
                extents[last][1],
                KINDS[int(kinds[first : last + 1, 1:].sum(axis=0).argmax())],
                DOUBTS[int(doubts[first : last + 1].sum(axis=0).argmax())],
                float(kinds[first : last + 1, 1:].sum(axis=1).mean()),
            )
            for first, last in runs(kinds[:, 1:].sum(axis=1) >= self.settings.part)
        ]

    def effects(self, known: str, new: str) -> Effects:
        """Return what a later turn does to a known statement.

        Args:
            known: The statement, in the third person: "The user lives in Athlone."
            new: What the user says later.
        """
        first, second = self._cut(known, new)
        states = self._states(first, second)
        middle = len(first.pieces)
        pooled = np.concatenate(
            [
                states[0],
                *(
                    words.mean(axis=0) if len(words) else np.zeros_like(states[0])
                    for words in (states[1 : middle - 1], states[middle + 1 : -1])
                ),
            ]
        )
        scores = self._scores("effect", pooled[None]) / self.settings.temperature
        return Effects(*_softmax(scores)[0].tolist())

    def _cut(self, first: str, second: str) -> tuple[TokenStates, TokenStates]:
        """Return the states of two texts, which together have at most `MAX_READ_TOKENS`."""
        one, other = (self._layers.of(text[:MAX_READ_CHARACTERS]) for text in (first, second))
        lengths = len(one.pieces), len(other.pieces)
        half = MAX_READ_TOKENS // 2
        room = [max(half, MAX_READ_TOKENS - length) for length in reversed(lengths)]
        return _shortened(one, room[0]), _shortened(other, room[1])

    def _states(self, first: TokenStates, second: TokenStates) -> Vectors:
        """Run the upper layers over both texts."""
        shared = np.intersect1d(first.pieces, second.pieces)
        shared = shared[shared >= FIRST_WORD]
        entered = np.concatenate([first.states, second.states + self._segment])
        entered[np.isin(np.concatenate([first.pieces, second.pieces]), shared)] += self._match
        return run_graph(self._session, entered)[0]

    def _scores(self, head: str, rows: Vectors) -> _Array:
        return np.asarray(
            rows @ self._heads[f"{head}.weight"].T + self._heads[f"{head}.bias"], dtype=np.float32
        )


def runs(chosen: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the first and last place of each run of chosen words.

    Runs with at most `MAX_GAP` words between them are one.
    """
    found: list[tuple[int, int]] = []
    for place in np.flatnonzero(chosen).tolist():
        if found and place - found[-1][1] <= MAX_GAP + 1:
            found[-1] = (found[-1][0], place)
        else:
            found.append((place, place))
    return found


def _shortened(text: TokenStates, tokens: int) -> TokenStates:
    """Return a text with at most so many tokens, the special ones among them."""
    if len(text.pieces) <= tokens:
        return text
    kept = [*range(tokens - 1), -1]
    return TokenStates(text.pieces[kept], [text.spans[at] for at in kept], text.states[kept])


def _words_of(
    spans: Sequence[tuple[int, int]], extents: Sequence[tuple[int, int]]
) -> NDArray[np.int64]:
    """Return the word that each token is in, by the characters of tokens and words."""
    starts = np.array([start for start, _ in extents])
    return np.searchsorted(starts, [start for start, _ in spans], side="right") - 1


def _by_word(rows: _Array, words: NDArray[np.int64]) -> _Array:
    """Return the mean of each word's tokens, up to the last word that has any; else zeros."""
    sums = np.zeros((int(words[-1]) + 1, rows.shape[1]), dtype=np.float32)
    np.add.at(sums, words, rows)
    counts = np.maximum(np.bincount(words), 1).astype(np.float32)
    return np.asarray(sums / counts[:, None], dtype=np.float32)


def _softmax(scores: _Array) -> _Array:
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True), dtype=np.float32)


def _sigmoid(score: np.float32) -> np.float32:
    return np.float32(1 / (1 + np.exp(-score)))
