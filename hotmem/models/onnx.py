"""The default encoder: all-MiniLM-L6-v2, trained on talks, in int8 by ONNX Runtime, without torch."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from tokenizers import Tokenizer

from hotmem.models.encoder import EncodedText, TokenIds, Vectors, unit_rows
from hotmem.models.preparation import TURNS, EncoderVariant, Prepared

MAX_TOKENS: Final = 256
"""Word pieces the model was trained to read."""

MAX_CHARACTERS: Final = 16_384
"""Characters the tokenizer is given of one text: far more than `MAX_TOKENS` word pieces of speech,
and still quick."""

THREADS: Final = 1
"""Threads of one run. On two busy cores a second one brings a short query nothing and makes its
slowest runs three times slower."""


class OnnxEncoder:
    """Mean of the word pieces' last hidden states, int8 weights and activations.

    A form with a projection gives codes of the pieces besides.

    Attributes:
        name: The prepared form's.
        dimension: 384.
    """

    def __init__(self, prepared: Prepared, name: str) -> None:
        import onnxruntime  # loaded with its model

        onnxruntime.disable_telemetry_events()  # for a process that imported it before hotmem
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = THREADS
        options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            prepared.model, options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer = Tokenizer.from_str(prepared.tokenizer)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self.name: str = name
        states, *codes = self._session.get_outputs()
        self._outputs = ["states", *(output.name for output in codes)]
        self.dimension: int = states.shape[-1]

    @classmethod
    def load(cls, cache_dir: Path | None = None, form: EncoderVariant = TURNS) -> "OnnxEncoder":
        """The encoder, prepared first where it is not yet.

        Args:
            cache_dir: Folder of prepared models; None is the user's cache folder.
            form: Which form of the published model.

        Raises:
            ModelMissing: If it cannot be prepared.
        """
        return cls(Prepared.load(cache_dir, form), form.name)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encodes texts one by one; see `Encoder.encode`.

        On one thread 32 texts in a batch take as long as one by one; and as int8 activations are
        scaled over all that runs together, a text's row would depend on its neighbours, down to
        cosine 0.97 of itself.
        """
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            rows[row] = self._run(self._pieces(text), ["states"])[0].mean(axis=0)
        return unit_rows(rows)

    def encode_tokens(self, texts: Sequence[str]) -> list[EncodedText]:
        """Reads texts one by one; see `TokenEncoder.encode_tokens`."""
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
        """The word pieces of a text, the two special ones around them included."""
        return np.array(self._tokenizer.encode(text[:MAX_CHARACTERS]).ids, dtype=np.int64)

    def _run(self, pieces: TokenIds, outputs: Sequence[str]) -> list[Vectors]:
        """What the model gives of every piece, each of shape (pieces, width)."""
        return [values[0] for values in self._session.run(outputs, {"pieces": pieces[np.newaxis]})]
