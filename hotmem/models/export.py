"""The export of the default encoder: sentence-transformers weights → int8 ONNX. Run as a process of its own.

`python -P export.py WEIGHTS TARGET` needs torch, transformers, onnx and onnxscript; a process keeps their 500 MB and the seconds they
hold the interpreter's lock out of the bot. Dynamic quantisation after https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html.
"""

import sys
import tempfile
import warnings
from pathlib import Path
from typing import Final

OPSET: Final = 17
"""The newest operator set of the tracing exporter. Its graph runs a short query in 1.6 ms; the graph of torch.export (opset 18) in 1.9 ms."""


def export(weights: Path, target: Path) -> None:
    """Writes the model at `weights` as int8 ONNX to the file `target`.

    Input: `input_ids`, int64, (texts, pieces), without padding, so there is no mask. Output: `last_hidden_state`, float32,
    (texts, pieces, dimension), unpooled, for the vectors of single word pieces are of use too. Weights are quantised per channel: mean
    cosine to the float model 0.992, per tensor 0.95.
    """
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from transformers import AutoModel

    class LastHiddenState(torch.nn.Module):
        def __init__(self, transformer: torch.nn.Module) -> None:
            super().__init__()
            self.transformer = transformer

        def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
            state: torch.Tensor = self.transformer(input_ids=input_ids).last_hidden_state
            return state

    transformer = AutoModel.from_pretrained(weights, attn_implementation="eager", local_files_only=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        exact = Path(folder) / "exact.onnx"
        torch.onnx.export(
            LastHiddenState(transformer).eval(),
            (torch.ones((2, 8), dtype=torch.long),),
            str(exact),
            dynamo=False,
            opset_version=OPSET,
            input_names=["input_ids"],
            output_names=["last_hidden_state"],
            dynamic_axes={name: {0: "texts", 1: "pieces"} for name in ("input_ids", "last_hidden_state")},
        )
        quantize_dynamic(exact, target, weight_type=QuantType.QInt8, per_channel=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    export(Path(sys.argv[1]), Path(sys.argv[2]))
