"""The reader in torch: the published encoder with low-rank changes of all layers, and heads."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Encoding
from torch import Tensor, nn
from transformers import BertModel, logging

from eval.encoder.model import Change
from eval.encoder.published import MATRICES, WIDTH, published_folder
from hotmem.models.files import load_tokenizer
from hotmem.models.reader import DOUBTS, EFFECTS, HEADS, KINDS, MAX_READ_TOKENS


@dataclass(frozen=True, slots=True)
class Batch:
    """Some texts in pairs, padded.

    Attributes:
        encodings: The tokens of each pair of texts.
        ids: Token ids, int64 (texts, longest).
        there: 1 for tokens and 0 for padding, float32 (texts, longest).
        first: 1 for tokens of the first text, float32 (texts, longest).
        second: 1 for tokens of the second text, float32 (texts, longest).
    """

    encodings: Sequence[Encoding]
    ids: Tensor
    there: Tensor
    first: Tensor
    second: Tensor

    @classmethod
    def of(cls, encodings: Sequence[Encoding]) -> "Batch":
        """Pad the tokens of some pairs of texts."""

        def padded(rows: list[list[int]]) -> Tensor:
            return nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True)

        return cls(
            encodings,
            padded([one.ids for one in encodings]),
            padded([[1] * len(one.ids) for one in encodings]).float(),
            padded([_of(one, 0) for one in encodings]).float(),
            padded([_of(one, 1) for one in encodings]).float(),
        )


def _of(encoding: Encoding, text: int) -> list[int]:
    """Return 1 for tokens of the first (0) or second (1) text, and 0 for others."""
    return [int(side == text) for side in encoding.sequence_ids]


class ReaderNet(nn.Module):
    """The encoder with changes of rank `rank`, and the heads.

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
        self.changes: dict[str, Change] = {}
        for number, layer in enumerate(self._bert.encoder.layer):
            for name in MATRICES:
                dense = layer.get_submodule(name)
                outputs, inputs = dense.get_parameter("weight").shape
                change = _Beside(outputs, inputs, rank)
                self.changes[f"{number}.{name}"] = change
                dense.register_forward_hook(change.added)
                dense.to(torch.bfloat16)
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
        return [one for change in self.changes.values() for one in change.parameters()]

    def trained(self) -> list[nn.Parameter]:
        """Return the parameters that training changes."""
        return [*self.changed(), *self.heads.parameters()]

    def train_heads(self) -> None:
        """Switch dropout on; the published encoder has none."""
        self.heads.train()
        self._dropout.train()

    def tokens(self, pairs: Sequence[tuple[str, str]]) -> list[Encoding]:
        """Return the tokens of pairs of texts."""
        return self._tokenizer.encode_batch(list(pairs))

    def states(self, batch: Batch) -> Tensor:
        """Return the last hidden states, float32 (texts, longest, 384)."""
        states: Tensor = self._bert(
            input_ids=batch.ids, attention_mask=batch.there
        ).last_hidden_state
        dropped: Tensor = self._dropout(states)
        return dropped

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
            for name, value in tensors.items()
        }


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
