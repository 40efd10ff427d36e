"""The default encoder: all-MiniLM-L6-v2, fine-tuned on conversations, in int8 on ONNX Runtime."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from tokenizers import Tokenizer

from hotmem.models.encoder import EncodedText, TokenIds, Vectors, unit_rows
from hotmem.models.preparation import TURNS, EncoderVariant, Prepared

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from threading import get_ident
from types import ModuleType

MAX_TOKENS: Final = 256
"""Maximum sequence length the model was trained on, in tokens."""

MAX_CHARACTERS: Final = 16_384
"""Maximum characters passed to the tokenizer; far more than `MAX_TOKENS` tokens of speech."""

THREADS: Final = 1
"""Threads of one model run. More make the slowest runs slower when all cores are busy."""


def open_session(model: bytes) -> "InferenceSession":
    """Return a session that runs a model on one thread."""
    import onnxruntime  # imported with its model because it is slow to import

    onnxruntime.disable_telemetry_events()  # in case onnxruntime was imported before hotmem
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


class OnnxEncoder:
    """Mean pooling over the last hidden states, with int8 weights and activations.

    For a variant with a projection, token states are the projected states.

    Attributes:
        name: Name of the variant.
        dimension: 384.
    """

    def __init__(self, prepared: Prepared, name: str) -> None:
        self._session = open_session(prepared.model)
        self._tokenizer = Tokenizer.from_str(prepared.tokenizer)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self.name: str = name
        states, *codes = self._session.get_outputs()
        self._outputs = ["states", *(output.name for output in codes)]
        self.dimension: int = states.shape[-1]

    @classmethod
    def load(cls, cache_dir: Path | None = None, form: EncoderVariant = TURNS) -> "OnnxEncoder":
        """Load the encoder and prepare it first if needed.

        Args:
            cache_dir: Folder of prepared models; None is the user's cache folder.
            form: The variant.

        Raises:
            ModelMissing: If it cannot be prepared.
        """
        return cls(Prepared.load(cache_dir, form), form.name)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode texts one by one; see `Encoder.encode`.

        A batch is not faster on one thread. Also, int8 activations are scaled over a whole run, so
        in a batch a text's vector would depend on the other texts.
        """
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            rows[row] = self._run(self._pieces(text), ["states"])[0].mean(axis=0)
        return unit_rows(rows)

    def encode_tokens(self, texts: Sequence[str]) -> list[EncodedText]:
        """Encode texts with their tokens, one by one; see `TokenEncoder.encode_tokens`."""
        return [self._encode_text(text) for text in texts]

    def _encode_text(self, text: str) -> EncodedText:
        pieces = self._pieces(text)
        states, *codes = self._run(pieces, self._outputs)
        return EncodedText(
            unit_rows(states.mean(axis=0, keepdims=True))[0],
            pieces[1:-1],
            (codes[0] if codes else states)[1:-1],
        )

    def _pieces(self, text: str) -> TokenIds:
        """Return the token ids of a text, including the special tokens around them."""
        return np.array(self._tokenizer.encode(text[:MAX_CHARACTERS]).ids, dtype=np.int64)

    def _run(self, pieces: TokenIds, outputs: Sequence[str]) -> list[Vectors]:
        """Run the model; each output has shape (tokens, width)."""
        return [values[0] for values in self._session.run(outputs, {"pieces": pieces[np.newaxis]})]


USERS: Final = (
    "spacy_transformers",
    "spacy_curated_transformers",
    "curated_transformers",
    "spacy_llm",
)
"""Packages that use torch through spaCy; torch is not hidden where one of them is installed."""


class _Hidden(MetaPathFinder):
    """Hides torch from imports in the thread that created this finder."""

    def __init__(self) -> None:
        self._thread = get_ident()

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == "torch" and get_ident() == self._thread:
            raise ModuleNotFoundError("torch is hidden while spaCy is imported", name=name)
        return None


@contextmanager
def torch_hidden() -> Iterator[None]:
    """Hide torch from the calling thread within this block, unless it is already imported.

    Importing torch with spaCy takes seconds and hundreds of megabytes.
    """
    if "torch" in sys.modules or any(find_spec(user) is not None for user in USERS):
        yield
        return
    finder = _Hidden()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
