"""The export of the default encoder: sentence-transformers weights → int8 ONNX. Run as a process of its own.

`python -P export.py WEIGHTS TARGET` needs torch, transformers, onnx and onnxscript; a process keeps their 500 MB and the seconds they
hold the interpreter's lock out of the bot. Dynamic quantisation after https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html.

The graph is BERT (Devlin et al., 2018, https://arxiv.org/abs/1810.04805) written out for one unpadded text: without batch, mask and the
arithmetic of shapes, and with query, key and value in one product, it has 104 nodes where the general one has 203, and a short query
takes 1.3 ms instead of 1.6 ms.
"""

import sys
import tempfile
import warnings
from pathlib import Path
from typing import Final, cast

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn
from torch.nn.functional import gelu
from transformers import AutoModel, BertModel
from transformers.models.bert.modeling_bert import BertLayer

OPSET: Final = 17
"""The newest operator set of the tracing exporter, whose graphs run faster than those of torch.export."""


class Bert(nn.Module):
    """Word piece numbers, int64, (pieces) → last hidden states, float32, (pieces, dimension)."""

    def __init__(self, bert: BertModel) -> None:
        super().__init__()
        embeddings = bert.embeddings
        self.words = embeddings.word_embeddings
        self.places = nn.Parameter(embeddings.position_embeddings.weight + embeddings.token_type_embeddings.weight[0])
        self.norm = embeddings.LayerNorm
        self.blocks = nn.Sequential(*(Block(cast(BertLayer, layer), bert.config.num_attention_heads) for layer in bert.encoder.layer))

    def forward(self, pieces: Tensor) -> Tensor:
        """The last hidden states."""
        states: Tensor = self.blocks(self.norm(self.words(pieces) + self.places[: pieces.shape[0]]))
        return states


class Block(nn.Module):
    """One layer: self-attention, then two dense layers, each added to its input and normalised; (pieces, dimension) both ways."""

    def __init__(self, layer: BertLayer, heads: int) -> None:
        super().__init__()
        attention = layer.attention.self
        self.heads = heads
        self.dimension = attention.query.out_features
        scale = (self.dimension // heads) ** -0.5
        parts = ((attention.query, scale), (attention.key, 1.0), (attention.value, 1.0))
        self.projection = nn.Linear(self.dimension, 3 * self.dimension)
        self.projection.weight = nn.Parameter(torch.cat([part.weight * factor for part, factor in parts]))
        self.projection.bias = nn.Parameter(torch.cat([part.bias * factor for part, factor in parts]))
        self.attended = layer.attention.output
        self.inner = layer.intermediate.dense
        self.outer = layer.output

    def forward(self, states: Tensor) -> Tensor:
        """The states after this layer."""
        parts = self.projection(states).reshape(-1, 3 * self.heads, self.dimension // self.heads).transpose(0, 1)
        query, key, value = parts.split(self.heads)
        mixed = (torch.softmax(query @ key.transpose(1, 2), dim=-1) @ value).transpose(0, 1).reshape(-1, self.dimension)
        states = self.attended.LayerNorm(states + self.attended.dense(mixed))
        after: Tensor = self.outer.LayerNorm(states + self.outer.dense(gelu(self.inner(states))))
        return after


def export(weights: Path, target: Path) -> None:
    """Writes the model at `weights` as int8 ONNX to the file `target`.

    Input: `pieces`, int64, (pieces). Output: `states`, float32, (pieces, dimension), unpooled, for the vectors of single word pieces are of
    use too. Weights are quantised per channel: mean cosine to the float model 0.993; per tensor it would be 0.95.
    """
    bert = Bert(AutoModel.from_pretrained(weights, attn_implementation="eager", local_files_only=True)).eval()
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        exact = Path(folder) / "exact.onnx"
        torch.onnx.export(
            bert,
            (torch.arange(8),),
            str(exact),
            dynamo=False,
            opset_version=OPSET,
            input_names=["pieces"],
            output_names=["states"],
            dynamic_axes={"pieces": {0: "length"}, "states": {0: "length"}},
        )
        quantize_dynamic(exact, target, weight_type=QuantType.QInt8, per_channel=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    export(Path(sys.argv[1]), Path(sys.argv[2]))
