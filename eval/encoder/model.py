"""The published model with trainable last layers and a trainable projection.

tokens ─▶ lower layers, frozen ─▶ upper layers ─▶ states ─▶ projection ─▶ codes, stored as signs
                                                 └────▶ mean ─▶ vector
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.parametrize import cached, register_parametrization
from transformers import BertModel, logging

from eval.arrays import save_arrays
from eval.encoder.export import PROJECTION
from eval.encoder.published import MATRICES, published_folder
from hotmem.models.encoders import MAX_TOKENS
from hotmem.models.files import load_tokenizer

TOGETHER: Final = 32
"""Number of texts of similar length per model run."""


@dataclass(frozen=True, slots=True)
class Padded:
    """Padded token states of several texts.

    Attributes:
        states: Token states, float32 (texts, longest, width).
        there: 1 for tokens and 0 for padding, float32 (texts, longest).
    """

    states: Tensor
    there: Tensor

    @classmethod
    def of(cls, rows: Sequence[Tensor]) -> "Padded":
        """Pad texts of different lengths, each (tokens, width)."""
        states = nn.utils.rnn.pad_sequence([row.float() for row in rows], batch_first=True)
        lengths = torch.tensor([len(row) for row in rows])
        return cls(states, (torch.arange(states.shape[1]) < lengths[:, None]).float())

    @property
    def words(self) -> Tensor:
        """1 for tokens other than the special ones around a text, float32 (texts, longest)."""
        lengths = self.there.sum(dim=1, keepdim=True)
        places = torch.arange(self.there.shape[1])
        return ((places > 0) & (places < lengths - 1)).float()


class Change(nn.Module):
    """A low-rank change of a matrix: `left` @ `right`, initially zero.

    Args:
        outputs: Rows of the matrix.
        inputs: Columns of the matrix.
        rank: Columns of `left`, and rows of `right`.
    """

    def __init__(self, outputs: int, inputs: int, rank: int) -> None:
        super().__init__()
        self.left = nn.Parameter(torch.zeros(outputs, rank))
        self.right = nn.Parameter(torch.randn(rank, inputs) * rank**-0.5)

    def forward(self, matrix: Tensor) -> Tensor:
        """Return the changed matrix."""
        return matrix + self.left @ self.right


class TurnEncoder(nn.Module):
    """The published model with low-rank changes of its last `layers` layers, and a projection.

    Both can be trained.

    Args:
        layers: Number of layers, 0 to 6.
        rank: Rank of the changes.
        projection: Projection of the states, float32 (384, dimensions).
    """

    def __init__(self, layers: int, rank: int, projection: Tensor) -> None:
        super().__init__()
        logging.set_verbosity_error()  # type: ignore[no-untyped-call]  # untyped; it would warn of the pooling layer, unused here
        self._bert = BertModel.from_pretrained(
            published_folder(), add_pooling_layer=False, attn_implementation="eager"
        )
        self._bert.eval()  # type: ignore[no-untyped-call]  # untyped
        self._tokenizer = load_tokenizer(MAX_TOKENS)
        whole = list(self._bert.encoder.layer)
        self._lower, self._upper = whole[: len(whole) - layers], whole[len(whole) - layers :]
        for parameter in self._bert.parameters():
            parameter.requires_grad_(False)
        self._changes: dict[str, Change] = {}
        for number, layer in enumerate(self._upper, len(self._lower)):
            for name in MATRICES:
                dense = layer.get_submodule(name)
                outputs, inputs = dense.get_parameter("weight").shape
                self._changes[f"{number}.{name}"] = change = Change(outputs, inputs, rank)
                register_parametrization(dense, "weight", change)
        self.projection = nn.Parameter(projection)

    def save(self, path: Path) -> None:
        """Write the projection and the changes as float16.

        A change is named after its layer's number, its matrix, and its side.
        """
        sides = {
            f"{name}.{side}": value
            for name, change in self._changes.items()
            for side, value in change.state_dict().items()
        }
        save_arrays(
            path,
            {
                name: value.detach().half().contiguous().numpy()
                for name, value in (sides | {PROJECTION: self.projection}).items()
            },
        )

    def changed(self) -> Iterator[nn.Parameter]:
        """Return the trainable parameters of the layers."""
        return (parameter for change in self._changes.values() for parameter in change.parameters())

    def weaken(self, kept: float) -> None:
        """Multiply the changes by a share, 0 to 1."""
        with torch.no_grad():
            for change in self._changes.values():
                change.left.mul_(kept)

    def entered(self, texts: Sequence[str]) -> list[Tensor]:
        """Return the float16 input of the trained layers for each text, with special tokens."""
        pieces = [self._tokenizer.encode(text).ids for text in texts]
        found: list[Tensor] = [torch.empty(0)] * len(texts)
        with torch.no_grad():
            for part in _alike(pieces):
                numbers = nn.utils.rnn.pad_sequence(
                    [torch.tensor(pieces[at]) for at in part], batch_first=True
                )
                lengths = torch.tensor([len(pieces[at]) for at in part])
                there = (torch.arange(numbers.shape[1]) < lengths[:, None]).float()
                states = through(self._lower, self._bert.embeddings(input_ids=numbers), there)
                for row, at in zip(states, part, strict=True):
                    found[at] = row[: len(pieces[at])].half()
        return found

    def states(self, entered: Padded) -> Tensor:
        """Return the last hidden states, float32 (texts, longest, 384)."""
        with cached():
            return through(self._upper, entered.states, entered.there)

    def rows(self, states: Tensor, there: Tensor) -> Tensor:
        """Return unit vectors, float32 (texts, 384)."""
        return nn.functional.normalize((states * there[..., None]).sum(dim=1), dim=1)


def principal(states: NDArray[np.float32], dimensions: int, seed: int) -> Tensor:
    """Compute a projection without training: principal directions, rotated at random.

    The rotation spreads the information evenly over the bits.

    Args:
        states: float32 (tokens, 384).
        dimensions: Dimensions of the codes; 384 leaves the states unchanged.
        seed: Seed of the rotation.

    Returns:
        float32 (384, dimensions).
    """
    width = states.shape[1]
    if dimensions >= width:
        return torch.eye(width)
    directions = np.linalg.eigh(np.cov(states, rowvar=False))[1][:, ::-1][:, :dimensions]
    turn, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(dimensions, dimensions)))
    return torch.from_numpy(np.asarray(directions @ turn, dtype=np.float32))


def through(layers: Sequence[Any], states: Tensor, there: Tensor) -> Tensor:
    """Run layers over padded states, float32 (texts, longest, width)."""
    mask = ((1 - there) * torch.finfo(torch.float32).min)[:, None, None, :]
    for layer in layers:
        states = layer(states, attention_mask=mask)
        states = states[0] if isinstance(states, tuple) else states
    return states


def _alike(texts: Sequence[Sequence[Any] | Tensor]) -> Iterator[list[int]]:
    """Yield the indices of texts in groups of similar length."""
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    return (order[start : start + TOGETHER] for start in range(0, len(order), TOGETHER))
