"""Calibration of activation ranges, to reduce the error of int8 quantisation.

Activations are quantised in equal steps over the range of a text, so one outlier channel makes the
steps coarse for all. Two changes that leave the model's results unchanged narrow the range:

- The channels of a normalisation are centred by its bias, and the biases of the next layers
compensate.
- Outlier channels of the outer dense layer's input are scaled down and its weights up, after
SmoothQuant (Xiao et al., 2023, https://arxiv.org/abs/2211.10438, formula 4).

Ranges are measured on `CALIBRATION_TEXTS`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from hotmem.models.encoder import TokenIds
from hotmem.models.export.bert import Array, Bert, Dense, Layer, Norm

MIGRATION_STRENGTH: Final = 0.7
"""Share of an input's range moved to the weights, 0 to 1 (alpha in formula 4 of SmoothQuant)."""


@dataclass(frozen=True, slots=True)
class ValueRange:
    """Minimum and maximum of each channel, both (channels,)."""

    least: Array
    greatest: Array

    @classmethod
    def of(cls, states: Iterable[Array]) -> "ValueRange":
        """Return the ranges over all rows of some texts."""
        rows = np.concatenate(list(states))
        return cls(rows.min(axis=0), rows.max(axis=0))

    @property
    def middle(self) -> Array:
        """Middle of each range."""
        return np.float32(0.5) * (self.least + self.greatest)


def balance(bert: Bert, texts: Iterable[TokenIds]) -> Bert:
    """Return the same model with parameters changed so that activation ranges are narrow.

    Args:
        bert: The published model.
        texts: Token ids of typical texts, including special tokens.
    """
    states = [
        _normal(bert.words[pieces] + bert.places[: len(pieces)], bert.first, bert.epsilon)
        for pieces in texts
    ]
    entry = first = ValueRange.of(states).middle
    layers: list[Layer] = []
    for number, layer in enumerate(bert.layers):
        mixed = [_mixed(_dense(rows, layer.projection), bert.heads) for rows in states]
        states = [
            _normal(_dense(high, layer.attended) + rows, layer.middle, bert.epsilon)
            for high, rows in zip(mixed, states, strict=True)
        ]
        between = ValueRange.of(states)
        inside = [_gelu(_dense(rows, layer.inner)) for rows in states]
        within = ValueRange.of(inside)
        states = [
            _normal(_dense(high, layer.outer) + rows, layer.last, bert.epsilon)
            for high, rows in zip(inside, states, strict=True)
        ]
        leaving = (
            ValueRange.of(states).middle if number + 1 < len(bert.layers) else np.zeros_like(entry)
        )
        layers.append(
            Layer(
                _moved(layer.projection, entry),
                Dense(layer.attended.weight, layer.attended.bias + entry),
                Norm(layer.middle.weight, layer.middle.bias - between.middle),
                _moved(layer.inner, between.middle),
                smooth(
                    Dense(layer.outer.weight, layer.outer.bias + between.middle),
                    np.maximum(within.greatest, -within.least),
                ),
                Norm(layer.last.weight, layer.last.bias - leaving),
            )
        )
        entry = leaving
    return Bert(
        bert.words,
        bert.places,
        Norm(bert.first.weight, bert.first.bias - first),
        tuple(layers),
        bert.heads,
        bert.epsilon,
    )


def smooth(dense: Dense, largest: Array) -> Dense:
    """Return the same layer with smaller outliers in its input.

    Factors are rounded to quarter powers of two, so that rounding differences between CPUs do not
    change the weights.

    Args:
        dense: The layer.
        largest: Maximum absolute value of each of its inputs, above 0.
    """
    logarithms = MIGRATION_STRENGTH * np.log2(largest) - (1 - MIGRATION_STRENGTH) * np.log2(
        np.abs(dense.weight).max(axis=1)
    )
    shares = np.exp2(np.rint(4 * (logarithms - logarithms.mean())) / 4).astype(np.float32)
    return Dense(dense.weight * shares[:, None], dense.bias, 1 / shares)


def _moved(dense: Dense, middle: Array) -> Dense:
    """Return the layer for an input from which `middle` was subtracted."""
    return Dense(dense.weight, dense.bias + middle @ dense.weight)


def _dense(rows: Array, dense: Dense) -> Array:
    return rows @ dense.weight + dense.bias


def _normal(rows: Array, norm: Norm, epsilon: float) -> Array:
    centred = rows - rows.mean(axis=1, keepdims=True)
    lengths = np.sqrt(np.square(centred).mean(axis=1, keepdims=True) + np.float32(epsilon))
    return np.asarray(centred / lengths * norm.weight + norm.bias, dtype=np.float32)


def _mixed(projected: Array, heads: int) -> Array:
    """Self-attention: (tokens, 3 × dimension) → (tokens, dimension)."""
    query, key, value = projected.reshape(len(projected), 3, heads, -1).transpose(1, 2, 0, 3)
    scores = query @ key.transpose(0, 2, 1) / np.sqrt(np.float32(query.shape[-1]))
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = shares / shares.sum(axis=-1, keepdims=True) @ value
    return np.asarray(mixed.transpose(1, 0, 2).reshape(len(projected), -1), dtype=np.float32)


def _gelu(rows: Array) -> Array:
    """GELU by its tanh approximation.

    Hendrycks and Gimpel, 2016, https://arxiv.org/abs/1606.08415.
    """
    inner = np.float32(np.sqrt(2 / np.pi)) * rows * (1 + np.float32(0.044715) * rows * rows)
    return np.asarray(np.float32(0.5) * rows * (1 + np.tanh(inner)), dtype=np.float32)
