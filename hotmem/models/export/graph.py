"""The ONNX graph that runs BERT in int8 on one unpadded text.

Without mask and the arithmetic of shapes, and with attention as one operator, it has 75 nodes; each
costs a microsecond or more. The fused sum and normalisation (SkipLayerNormalization) is left alone:
on a CPU it is slower than its two halves.

Activations are quantised as they come, to 8 bits over all of a text. Weights are quantised per
output, to 7 bits: without the newer instructions (VNNI, AMX) an x86 CPU adds the products of two
neighbours in 16 bits, and 2 × 255 × 64 is the most that fits, so the sums are exact on every CPU.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from hotmem.models.export.bert import Array, Bert, Dense, Norm

CONTRIB_DOMAIN: Final = "com.microsoft"
"""Operators of ONNX Runtime:
https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md."""

OPSET: Final = 18
IR_VERSION: Final = 9
"""Old enough for every ONNX Runtime that HotMem allows."""

MAX_WEIGHT_INTEGER: Final = 64
MAX_EMBEDDING_INTEGER: Final = 127


def int8_model(bert: Bert, projection: Array | None = None) -> ModelProto:
    """The model from `pieces`, word piece numbers, int64, (1, pieces), to `states`, last hidden states, float32, (1, pieces, dimension).

    Args:
        bert: The model.
        projection: Of the states to `codes`, float32 (dimension, width), a second output of the
            graph; None leaves that out.
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
    """Integers of at most `largest`, and for each row the factor, (rows, 1), that brings them back to within half a step."""
    factors = np.maximum(
        np.abs(rows).max(axis=1, keepdims=True), np.finfo(np.float32).tiny * largest
    ) / np.float32(largest)
    return np.rint(rows / factors).astype(np.int8), factors


class _Graph:
    """A graph in the making; values go by their names."""

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
        """Words and places added up."""
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
        """Query, key and value in one product, and the values mixed."""
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
        """The whole graph; outputs by name, each with its value and its width."""
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
