"""Parameters of BERT (Devlin et al., 2018, https://arxiv.org/abs/1810.04805)."""

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
    """A dense layer: rows, times `factors` if given, times `weight`, plus `bias`.

    Shapes: factors (inputs,), weight (inputs, outputs), bias (outputs,).
    """

    weight: Array
    bias: Array
    factors: Array | None = None


@dataclass(frozen=True, slots=True)
class Norm:
    """Layer normalisation with `weight` and `bias`, both (dimension,)."""

    weight: Array
    bias: Array


@dataclass(frozen=True, slots=True)
class Layer:
    """A transformer layer: attention and a feed-forward network, each added and normalised.

    `projection` holds query, key and value side by side.
    """

    projection: Dense
    attended: Dense
    middle: Norm
    inner: Dense
    outer: Dense
    last: Norm


@dataclass(frozen=True, slots=True)
class Bert:
    """All parameters.

    Attributes:
        words: Word embeddings, (vocabulary, dimension).
        places: Position embeddings, (window, dimension).
        first: Normalisation of the embeddings.
        layers: The transformer layers.
        heads: Attention heads of each layer.
        epsilon: Added to the variance in normalisations.
    """

    words: Array
    places: Array
    first: Norm
    layers: tuple[Layer, ...]
    heads: int
    epsilon: float

    @classmethod
    def load(cls, folder: Path, changes: Mapping[str, Array] | None = None) -> Self:
        """Read `model.safetensors` and `config.json` of a folder, for token type 0.

        Args:
            folder: The model's folder.
            changes: Low-rank changes (LoRA, Hu et al. 2021, https://arxiv.org/abs/2106.09685): the
                product of `<layer>.<matrix>.left`, (outputs, rank), and `<layer>.<matrix>.right`,
                (rank, inputs), is added to that matrix.

        Raises:
            OSError: If a file is missing.
            KeyError: If it is not a BERT model, or has no such matrix.
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
