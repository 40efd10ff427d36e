"""The reader in torch.

The lower layers of the shipped encoder read each text alone; the upper ones read both, with
low-rank changes and heads.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Encoding
from torch import Tensor, nn
from transformers import BertModel, logging

from eval.arrays import load_arrays
from eval.encoder.export import SHARED, TURNS
from eval.encoder.model import Change, through
from eval.encoder.published import MATRICES, WIDTH, published_folder
from hotmem.models.files import load_tokenizer
from hotmem.models.reader import (
    DOUBTS,
    EFFECTS,
    FIRST_WORD,
    HEADS,
    KINDS,
    MATCH,
    MAX_READ_TOKENS,
    SEGMENT,
)


class Tokens(NamedTuple):
    """The tokens of two texts, one behind the other, each with the special ones around it.

    Attributes:
        ids: Token ids of each text.
        spans: First character and one past the last of each token, of each text.
    """

    ids: tuple[list[int], list[int]]
    spans: tuple[list[tuple[int, int]], list[tuple[int, int]]]

    @property
    def second(self) -> list[tuple[int, tuple[int, int]]]:
        """Place and characters of the second text's tokens without the special ones."""
        return [*enumerate(self.spans[1][1:-1], len(self.ids[0]) + 1)]


@dataclass(frozen=True, slots=True)
class Batch:
    """Some texts in pairs, padded.

    Attributes:
        pairs: The tokens of each pair of texts.
        there: 1 for tokens and 0 for padding, float32 (texts, longest).
        first: 1 for tokens of the first text, float32 (texts, longest).
        second: 1 for tokens of the second text, float32 (texts, longest).
    """

    pairs: Sequence[Tokens]
    there: Tensor
    first: Tensor
    second: Tensor

    @classmethod
    def of(cls, pairs: Sequence[Tokens]) -> "Batch":
        """Pad the tokens of some pairs of texts."""
        lengths = [tuple(map(len, one.ids)) for one in pairs]
        longest = max(map(sum, lengths))
        there, first, second = torch.zeros(3, len(pairs), longest)
        for row, (one, other) in enumerate(lengths):
            there[row, : one + other] = 1
            first[row, 1 : one - 1] = 1
            second[row, one + 1 : one + other - 1] = 1
        return cls(pairs, there, first, second)


class ReaderNet(nn.Module):
    """The shared layers, upper ones with changes of rank `rank`, and the heads.

    Args:
        rank: Rank of the changes.
        dropout: Share of the states that the heads do not see in training.
    """

    def __init__(self, rank: int, dropout: float) -> None:
        super().__init__()
        logging.set_verbosity_error()  # type: ignore[no-untyped-call]  # untyped
        self._bert = BertModel.from_pretrained(
            published_folder(), add_pooling_layer=False, attn_implementation="sdpa"
        )
        self._bert.eval()  # type: ignore[no-untyped-call]  # untyped
        self._tokenizer = load_tokenizer(MAX_READ_TOKENS)
        for parameter in self._bert.parameters():
            parameter.requires_grad_(False)
        encoder = load_arrays(TURNS)
        self.changes: dict[str, Change] = {}
        for number, layer in enumerate(self._bert.encoder.layer):
            for matrix in MATRICES:
                dense, name = layer.get_submodule(matrix), f"{number}.{matrix}"
                weight = dense.get_parameter("weight")
                left, right = (encoder[f"{name}.{side}"] for side in ("left", "right"))
                weight.add_(torch.from_numpy(left.astype(np.float32) @ right.astype(np.float32)))
                if number >= SHARED:
                    outputs, inputs = weight.shape
                    self.changes[name] = change = _Beside(outputs, inputs, rank)
                    dense.register_forward_hook(change.added)
                    dense.to(torch.bfloat16)
        self.segment = nn.Parameter(torch.zeros(WIDTH))
        self.match = nn.Parameter(torch.zeros(WIDTH))
        self._lower: dict[tuple[int, ...], Tensor] = {}
        self.heads = nn.ModuleDict(
            {
                "part": nn.Linear(WIDTH, 1 + len(KINDS)),
                "doubt": nn.Linear(WIDTH, len(DOUBTS)),
                "kept": nn.Linear(2 * WIDTH, 1),
                "effect": nn.Linear(3 * WIDTH, len(EFFECTS)),
            }
        )
        self._dropout = nn.Dropout(dropout)

    def changed(self) -> list[nn.Parameter]:
        """Return the parameters of the changes."""
        changes = (one for net in self.changes.values() for one in net.parameters())
        return [self.segment, self.match, *changes]

    def trained(self) -> list[nn.Parameter]:
        """Return the parameters that training changes."""
        return [*self.changed(), *self.heads.parameters()]

    def train_heads(self) -> None:
        """Switch dropout on; the published encoder has none."""
        self.heads.train()
        self._dropout.train()

    def tokens(self, pairs: Sequence[tuple[str, str]]) -> list[Tokens]:
        """Return the tokens of pairs of texts, as `hotmem.models.reader.Reader` cuts them."""
        return [self._cut(*map(self._tokenizer.encode, pair)) for pair in pairs]

    def _cut(self, first: Encoding, second: Encoding) -> Tokens:
        chosen = [
            _kept(len(one.ids), MAX_READ_TOKENS - len(other.ids))
            for one, other in ((first, second), (second, first))
        ]
        texts = [*zip((first, second), chosen, strict=True)]
        one, other = ([text.ids[at] for at in kept] for text, kept in texts)
        spans, others = ([text.offsets[at] for at in kept] for text, kept in texts)
        return Tokens((one, other), (spans, others))

    def states(self, batch: Batch) -> Tensor:
        """Return the last hidden states, float32 (texts, longest, 384)."""
        self._run_lower({tuple(ids) for pair in batch.pairs for ids in pair.ids})
        rows = []
        for pair in batch.pairs:
            one, other = (self._lower[tuple(ids)].float() for ids in pair.ids)
            rows.append(torch.cat([one, other + self.segment]) + self._matches(pair))
        states = nn.utils.rnn.pad_sequence(rows, batch_first=True)
        dropped: Tensor = self._dropout(
            through([*self._bert.encoder.layer][SHARED:], states, batch.there)
        )
        return dropped

    def _matches(self, pair: Tokens) -> Tensor:
        """Return what is added to the states of tokens that both texts have."""
        first, second = map(torch.tensor, pair.ids)
        shared = torch.cat([torch.isin(first, second), torch.isin(second, first)])
        words = torch.cat([first, second]) >= FIRST_WORD
        return (shared & words).float()[:, None] * self.match

    def _run_lower(self, texts: Set[tuple[int, ...]]) -> None:
        """Run the shared layers over the texts that they have not read yet; the states are kept."""
        new = sorted(texts - self._lower.keys(), key=len)
        if not new:
            return
        ids = nn.utils.rnn.pad_sequence([torch.tensor(one) for one in new], batch_first=True)
        there = (torch.arange(ids.shape[1]) < torch.tensor([*map(len, new)])[:, None]).float()
        with torch.no_grad(), torch.autocast("cpu", enabled=False):
            entered = self._bert.embeddings(input_ids=ids)
            found = through([*self._bert.encoder.layer][:SHARED], entered, there)
        self._lower |= {one: row[: len(one)].half() for one, row in zip(new, found, strict=True)}

    def parts(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Return for each token the scores of `nothing` and the kinds, and of the doubts."""
        return self.heads["part"](states), self.heads["doubt"](states)

    def kept(self, states: Tensor, batch: Batch) -> Tensor:
        """Return the score of each second text that it holds something, (texts,)."""
        pooled = torch.cat([states[:, 0], mean(states, batch.second)], dim=1)
        scores: Tensor = self.heads["kept"](pooled)
        return scores[:, 0]

    def effect(self, states: Tensor, batch: Batch) -> Tensor:
        """Return the scores of the effects of each pair, (texts, effects)."""
        pooled = torch.cat(
            [states[:, 0], mean(states, batch.first), mean(states, batch.second)], dim=1
        )
        scores: Tensor = self.heads["effect"](pooled)
        return scores

    def tensors(self) -> dict[str, NDArray[np.float16]]:
        """Return changes and heads as the file of a reader holds them, float16."""
        tensors = {
            f"{name}.{side}": value
            for name, change in self.changes.items()
            for side, value in change.state_dict().items()
        } | {
            f"{HEADS}{name}.{part}": value
            for name, head in self.heads.items()
            for part, value in head.state_dict().items()
        }
        return {
            name: np.ascontiguousarray(value.detach().numpy().astype(np.float16))
            for name, value in (tensors | {SEGMENT: self.segment, MATCH: self.match}).items()
        }


def _kept(tokens: int, room: int) -> list[int]:
    """Return the places of tokens that are kept of a text, the last one among them."""
    most = max(MAX_READ_TOKENS // 2, room)
    return [*range(tokens)] if tokens <= most else [*range(most - 1), -1]


class _Beside(Change):
    """A low-rank change computed beside its layer, whose own gradient is not needed."""

    def added(self, layer: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
        """Return the layer's output with the change."""
        changed: Tensor = output + inputs[0] @ self.right.T @ self.left.T
        return changed


def mean(states: Tensor, chosen: Tensor) -> Tensor:
    """Return the mean state of the chosen tokens, (texts, 384); zeros without any."""
    total: Tensor = (states * chosen[..., None]).sum(dim=1)
    return total / chosen.sum(dim=1, keepdim=True).clamp_min(1)
