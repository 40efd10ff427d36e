"""The ONNX graph of BERT in int8, for one unpadded text.

There is no attention mask, and attention is one fused operator. The fused SkipLayerNormalization is
not used: on a CPU it is slower than its parts.

Activations are quantised dynamically to 8 bits per text. Weights are quantised per output channel
to 7 bits: x86 CPUs without VNNI or AMX add two products in 16 bits, and 2 × 255 × 64 does not
overflow, so results are exact on every CPU.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from hotmem.models.export.bert import Array, Bert, Dense, Norm

CONTRIB_DOMAIN: Final = "com.microsoft"
"""Domain of ONNX Runtime's own operators:
https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md."""

OPSET: Final = 18
IR_VERSION: Final = 9
"""Supported by every ONNX Runtime that HotMem allows."""

MAX_WEIGHT_INTEGER: Final = 64
MAX_EMBEDDING_INTEGER: Final = 127


def int8_model(bert: Bert, projection: Array | None = None) -> ModelProto:
    """Build the graph.

    Its input `pieces` are token ids, int64 (1, tokens); its output `states` are the last hidden
    states, float32 (1, tokens, dimension).

    Args:
        bert: The model.
        projection: Matrix (dimension, width) that maps the states to a second output, `codes`; None
            leaves that out.
    """
    graph = _Graph()
    states = graph.norm(graph.embedded(bert, "pieces"), bert.first, bert.epsilon)
    for layer in bert.layers:
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
    return graph.model("pieces", outputs)


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

    def embedded(self, bert: Bert, pieces: str) -> str:
        """Add word and position embeddings."""
        integers, factors = quantise(bert.words, MAX_EMBEDDING_INTEGER)
        words = self.node(
            "Cast", self.node("Gather", self.constant(integers), pieces), to=TensorProto.FLOAT
        )
        length = self.node("Shape", pieces, start=1)
        places = self.node(
            "Slice", self.constant(bert.places), self.constant(np.zeros(1, np.int64)), length
        )
        return self.node(
            "Add",
            self.node("Mul", words, self.node("Gather", self.constant(factors), pieces)),
            places,
        )

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

    def model(self, pieces: str, outputs: Mapping[str, tuple[str, int]]) -> ModelProto:
        """Return the complete model; `outputs` maps names to a value and its width."""
        self._nodes += [
            helper.make_node("Identity", [value], [name]) for name, (value, _) in outputs.items()
        ]
        taken = helper.make_tensor_value_info(pieces, TensorProto.INT64, [1, "length"])
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
