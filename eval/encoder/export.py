"""Export of the shipped models: the published weights and trained changes → int8 ONNX, no torch.

bert ─▶ calibration ─▶ graph

The word embeddings, which no training changes, are a file of their own that all graphs share.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from eval.arrays import load_arrays, save_arrays
from eval.encoder.published import EPSILON, HEADS, LAYERS, WORD_EMBEDDINGS, published_tensors
from hotmem.models.encoder import TokenIds
from hotmem.models.encoders import MAX_TOKENS, OnnxEncoder, word_embeddings
from hotmem.models.files import load_tokenizer
from hotmem.models.reader import HEADS as READER_HEADS
from hotmem.models.reader import MATCH, SEGMENT, SETTINGS

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
    def published(cls, changes: Mapping[str, NDArray[np.generic]] | None = None) -> Self:
        """The published model, for token type 0.

        Args:
            changes: Low-rank changes (LoRA, Hu et al. 2021, https://arxiv.org/abs/2106.09685): the
                product of `<layer>.<matrix>.left`, (outputs, rank), and `<layer>.<matrix>.right`,
                (rank, inputs), is added to that matrix.

        Raises:
            ModelMissing: If the published weights are not installed.
            KeyError: If it has no such matrix.
        """
        tensors = published_tensors()
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
            for at in (f"encoder.layer.{number}" for number in range(LAYERS))
        )
        places = (
            tensors["embeddings.position_embeddings.weight"]
            + tensors["embeddings.token_type_embeddings.weight"][0]
        )
        words = tensors[WORD_EMBEDDINGS]
        return cls(
            words,
            places,
            norm("embeddings"),
            layers,
            HEADS,
            EPSILON,
        )


CONTRIB_DOMAIN: Final = "com.microsoft"
"""Domain of ONNX Runtime's own operators:
https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md."""

OPSET: Final = 18
IR_VERSION: Final = 9
"""Supported by every ONNX Runtime that HotMem allows."""

ENTERED: Final = "entered"
"""The input of a graph: the states that its first layer reads."""

MAX_WEIGHT_INTEGER: Final = 64
MAX_EMBEDDING_INTEGER: Final = 127


def int8_model(
    bert: Bert,
    projection: Array | None = None,
    first: int = 0,
    last: int = LAYERS,
) -> ModelProto:
    """Build the graph of some of the layers.

    Its input `entered` are the word embeddings of the tokens, or the states of the layers before,
    float32 (1, tokens, dimension); its output `states` are the last states, of the same shape.

    Args:
        bert: The model.
        projection: Matrix (dimension, width) that maps the states to a second output, `codes`; None
            leaves that out.
        first: Its first layer.
        last: One past its last layer.
    """
    graph = _Graph()
    states = ENTERED
    if first == 0:
        states = graph.norm(graph.placed(bert, ENTERED), bert.first, bert.epsilon)
    for layer in bert.layers[first:last]:
        mixed = graph.attention(states, layer.projection, bert.heads)
        states = graph.norm(
            graph.node("Add", graph.dense(mixed, layer.attended), states),
            layer.middle,
            bert.epsilon,
        )
        inside = graph.node("Gelu", graph.dense(states, layer.inner), domain=CONTRIB_DOMAIN)
        states = graph.norm(
            graph.node("Add", graph.dense(inside, layer.outer), states), layer.last, bert.epsilon
        )
    outputs = {"states": (states, bert.words.shape[1])}
    if projection is not None:
        outputs["codes"] = (
            graph.node("MatMul", states, graph.constant(projection)),
            projection.shape[1],
        )
    return graph.model(outputs)


def quantise(rows: Array, largest: int) -> tuple[NDArray[np.int8], Array]:
    """Quantise rows to integers of at most `largest`.

    Returns:
        The integers, and the scale of each row, (rows, 1).
    """
    factors = np.maximum(
        np.abs(rows).max(axis=1, keepdims=True), np.finfo(np.float32).tiny * largest
    ) / np.float32(largest)
    return np.rint(rows / factors).astype(np.int8), factors


class _Graph:
    """Builds a graph; values are referred to by name."""

    def __init__(self) -> None:
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []

    def constant(self, value: NDArray[Any]) -> str:
        name = f"constant {len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:  # noqa: ANN401 - as onnx types them
        return self.nodes(1, operator, *inputs, domain=domain, **attributes)[0]

    def nodes(
        self,
        outputs: int,
        operator: str,
        *inputs: str,
        domain: str = "",
        **attributes: Any,  # noqa: ANN401 - as onnx types them
    ) -> list[str]:
        names = [f"{operator} {len(self._nodes)} {place}" for place in range(outputs)]
        self._nodes.append(
            helper.make_node(operator, inputs, names, names[0], domain=domain, **attributes)
        )
        return names

    def placed(self, bert: Bert, words: str) -> str:
        """Add the position embeddings."""
        length = self.node("Shape", words, start=1, end=2)
        places = self.node(
            "Slice", self.constant(bert.places), self.constant(np.zeros(1, np.int64)), length
        )
        return self.node("Add", words, places)

    def norm(self, states: str, norm: Norm, epsilon: float) -> str:
        return self.node(
            "LayerNormalization",
            states,
            self.constant(norm.weight),
            self.constant(norm.bias),
            epsilon=epsilon,
        )

    def attention(self, states: str, projection: Dense, heads: int) -> str:
        """Attention as one fused operator, with one projection for query, key and value."""
        integers, factors = quantise(projection.weight.T, MAX_WEIGHT_INTEGER)
        states, scale, zero = self.nodes(3, "DynamicQuantizeLinear", states)
        weight, bias, scales = (
            self.constant(integers.T),
            self.constant(projection.bias),
            self.constant(factors[:, 0]),
        )
        zeros = self.constant(np.zeros(len(factors), np.int8))
        return self.node(
            "QAttention",
            states,
            weight,
            bias,
            scale,
            scales,
            "",
            zero,
            zeros,
            domain=CONTRIB_DOMAIN,
            num_heads=heads,
        )

    def dense(self, states: str, dense: Dense) -> str:
        if dense.factors is not None:
            states = self.node("Mul", states, self.constant(dense.factors))
        integers, factors = quantise(dense.weight.T, MAX_WEIGHT_INTEGER)
        weight, bias, scales = (
            self.constant(integers.T),
            self.constant(dense.bias),
            self.constant(factors[:, 0]),
        )
        return self.node(
            "DynamicQuantizeMatMul", states, weight, scales, "", bias, domain=CONTRIB_DOMAIN
        )

    def model(self, outputs: Mapping[str, tuple[str, int]]) -> ModelProto:
        """Return the complete model; `outputs` maps names to a value and its width."""
        self._nodes += [
            helper.make_node("Identity", [value], [name]) for name, (value, _) in outputs.items()
        ]
        width = next(iter(outputs.values()))[1]
        taken = helper.make_tensor_value_info(ENTERED, TensorProto.FLOAT, [1, "length", width])
        given = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, "length", width])
            for name, (_, width) in outputs.items()
        ]
        graph = helper.make_graph(self._nodes, "bert", [taken], given, self._constants)
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB_DOMAIN, 1)],
            ir_version=IR_VERSION,
        )


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


CALIBRATION_TEXTS: Final = (
    "I moved here in the spring of 2019, and honestly I haven't looked back since.",
    "What was the name of that restaurant we talked about last week?",
    "My sister's wedding is on the 14th of June, so I need to book the flights before Friday!",
    "no no, I said the blue one, not the green one",
    "Sounds great! I'd love to hear more about it. How long have you been painting, "
    "and do you sell any of your work?",
    "Remind me to call the dentist tomorrow at half past nine.",
    "We had to take the dog to the vet because she ate something in the park, but she's fine now.",
    "Who told you that?",
    "I'm so sorry to hear that. Losing a job is hard, especially with two kids and a mortgage. "
    "Have you talked to anyone about it?",
    "The doctor says my blood pressure is too high: 150 over 95, he wants me to cut down on salt "
    "and coffee.",
    "Yeah, I guess so.",
    "When did my brother start working at the hospital in Leeds?",
    "She plays the violin in the city orchestra and teaches chemistry at the university.",
    "Thanks! That really means a lot to me. I've been training for the marathon since January; "
    "my goal is to finish in under four hours.",
    "How much did I pay for the bicycle?",
    "Which film did we watch after the concert, and did I like it?",
    "I used to hate mushrooms, now I cook them almost every day with garlic, butter and a bit of "
    "thyme.",
    "Okay, so the meeting with the bank went badly. They want another 2,500 euros up front, which "
    "we simply don't have.",
    "Happy birthday, Daniel! Did you get the parcel I sent you?",
    "Where are we going on holiday this summer?",
)
"""Synthetic turns and questions to calibrate activation ranges on."""


PROJECTION: Final = "projection"
"""Key of the projection in a trained file; the other tensors are low-rank changes, see
`Bert.published`, and a reader's heads and settings."""

SHARED: Final = 2
"""Lower layers that the shipped encoder and reader share."""

TURNS: Final = Path(__file__).parent / "trained" / "turns-1.npz"
"""The training's result that the shipped encoder, and the shared layers, were exported from."""


def exported(trained: Path | None = None) -> bytes:
    """The int8 ONNX model of the published weights; see `int8_model` for inputs and outputs.

    Args:
        trained: File with changes to the published weights, and perhaps a projection, by `python -m
            eval encoder train`; None for neither.

    Raises:
        OSError: If a file cannot be read.
    """
    return _graph(load_arrays(trained) if trained else {})


def exported_reader(trained: Path) -> bytes:
    """The upper layers of a reader by `python -m eval reader train`, for the shipped lower ones.

    Its changes are to the shipped encoder, whose own ones are to the published weights.

    Raises:
        OSError: If a file cannot be read.
    """
    changes = {name: one for name, one in load_arrays(TURNS).items() if name[0].isdigit()}
    for name, one in load_arrays(trained).items():
        if name in changes:
            changes[name] = np.concatenate([changes[name], one], int(name.endswith(".left")))
    return _graph(changes, SHARED)


def _graph(tensors: Mapping[str, NDArray[np.generic]], first: int = 0, last: int = LAYERS) -> bytes:
    """Some layers of the published model with changes; the last ones have the projection."""
    changes = {name: values for name, values in tensors.items() if name[0].isdigit()}
    projection = tensors[PROJECTION].astype(np.float32) if PROJECTION in tensors else None
    tokenizer = load_tokenizer(MAX_TOKENS)
    bert = balance(
        Bert.published(changes),
        [np.array(tokenizer.encode(text).ids, dtype=np.int64) for text in CALIBRATION_TEXTS],
    )
    model = int8_model(bert, projection if last == LAYERS else None, first, last)
    content: bytes = model.SerializeToString()
    return content


def write_encoder(trained: Path, folder: Path) -> Path:
    """Write a trained encoder as `HOTMEM_ENCODER` names it: one graph; returns its path."""
    graph = folder / f"{trained.stem}.onnx"
    graph.write_bytes(exported(trained))
    return graph


def write_shipped(reader: Path, folder: Path) -> list[Path]:
    """Write the graphs and arrays that are shipped; returns their paths.

    The shared layers, the encoder's and the reader's upper ones, the reader's heads and settings,
    and the word embeddings. A graph is named after the trained file.

    Args:
        reader: The trained reader.
        folder: Where to write.
    """
    turns = load_arrays(TURNS)
    graphs = {
        "texts-1.onnx": _graph(turns, 0, SHARED),
        f"{TURNS.stem}.onnx": _graph(turns, SHARED),
        f"{reader.stem}.onnx": exported_reader(reader),
    }
    for name, content in graphs.items():
        (folder / name).write_bytes(content)
    integers, factors = quantise(published_tensors()[WORD_EMBEDDINGS], MAX_EMBEDDING_INTEGER)
    save_arrays(folder / "words.npz", {"integers": integers, "factors": factors})
    heads = {
        name: values
        for name, values in load_arrays(reader).items()
        if name.startswith((READER_HEADS, SETTINGS, SEGMENT, MATCH))
    }
    save_arrays(folder / f"{reader.stem}.npz", heads)
    return [folder / name for name in (*graphs, "words.npz", f"{reader.stem}.npz")]


@cache
def published_encoder() -> OnnxEncoder:
    """The encoder of the published weights without changes, built once in a process in seconds."""
    return OnnxEncoder(exported(), "all-MiniLM-L6-v2-int8-2", word_embeddings())
