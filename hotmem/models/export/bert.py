"""BERT's parameters (Devlin et al., 2018, https://arxiv.org/abs/1810.04805) as its authors' files hold them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

Array: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Dense:
    """Rows, times `factors`, (inputs,), where there are any, times `weight`, (inputs, outputs), plus `bias`, (outputs,)."""

    weight: Array
    bias: Array
    factors: Array | None = None


@dataclass(frozen=True, slots=True)
class Norm:
    """Normalisation of a row, then times `weight` plus `bias`, both (dimension,)."""

    weight: Array
    bias: Array


@dataclass(frozen=True, slots=True)
class Layer:
    """Attention (query, key and value side by side), its dense layer, then two dense layers.

    A normalised sum after each half.
    """

    projection: Dense
    attended: Dense
    middle: Norm
    inner: Dense
    outer: Dense
    last: Norm


@dataclass(frozen=True, slots=True)
class Bert:
    """The parameters: word pieces, (vocabulary, dimension), places, (window, dimension), and the layers."""

    words: Array
    places: Array
    first: Norm
    layers: tuple[Layer, ...]
    heads: int
    epsilon: float

    @classmethod
    def load(cls, folder: Path, changes: Mapping[str, Array] | None = None) -> Self:
        """Reads `model.safetensors` and `config.json` of a folder.

        The type of the text is the first one.

        Args:
            folder: The model's folder.
            changes: Low-rank changes (Hu et al. 2021, https://arxiv.org/abs/2106.09685):
                `<layer>.<matrix>.left`, (outputs, rank), times `<layer>.<matrix>.right`, (rank,
                inputs), is added to that matrix.

        Raises:
            OSError: If a file is missing.
            KeyError: If it is no BERT, or has no such matrix.
        """
        config = json.loads((folder / "config.json").read_text("utf-8"))
        tensors = load_file(folder / "model.safetensors")
        for name, left in (changes or {}).items():
            matrix, _, side = name.rpartition(".")
            if changes and side == "left":
                tensors[f"encoder.layer.{matrix}.weight"] += left.astype(np.float32) @ changes[
                    f"{matrix}.right"
                ].astype(np.float32)

        def dense(*names: str) -> Dense:
            return Dense(
                np.concatenate([tensors[f"{name}.weight"].T for name in names], axis=1),
                np.concatenate([tensors[f"{name}.bias"] for name in names]),
            )

        def norm(name: str) -> Norm:
            return Norm(tensors[f"{name}.LayerNorm.weight"], tensors[f"{name}.LayerNorm.bias"])

        layers = tuple(
            Layer(
                dense(*(f"{at}.attention.self.{part}" for part in ("query", "key", "value"))),
                dense(f"{at}.attention.output.dense"),
                norm(f"{at}.attention.output"),
                dense(f"{at}.intermediate.dense"),
                dense(f"{at}.output.dense"),
                norm(f"{at}.output"),
            )
            for at in (f"encoder.layer.{number}" for number in range(config["num_hidden_layers"]))
        )
        places = (
            tensors["embeddings.position_embeddings.weight"]
            + tensors["embeddings.token_type_embeddings.weight"][0]
        )
        words = tensors["embeddings.word_embeddings.weight"]
        return cls(
            words,
            places,
            norm("embeddings"),
            layers,
            config["num_attention_heads"],
            config["layer_norm_eps"],
        )
