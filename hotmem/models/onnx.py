"""The default encoder: all-MiniLM-L6-v2 in int8 by ONNX Runtime, without torch."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime
from tokenizers import Encoding, Tokenizer

from hotmem.models.encoder import Vectors, unit_rows
from hotmem.models.preparation import FORM, Prepared

PIECES: Final = 256
"""Word pieces the model was trained to read."""

CHARACTERS: Final = 16_384
"""Characters the tokenizer is given of one text: far more than `PIECES` word pieces of speech, and still quick."""

BATCH: Final = 32
"""Texts of one run."""

THREADS: Final = 1
"""Threads of one run. On two busy cores a second one brings a short query nothing and its slowest runs three times the delay."""


class OnnxEncoder:
    """Mean of the word pieces' last hidden states, int8 weights and activations.

    Attributes:
        name: The prepared form.
        dimension: 384.
    """

    def __init__(self, prepared: Prepared) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = THREADS
        options.inter_op_num_threads = 1
        onnxruntime.disable_telemetry_events()
        self._session = onnxruntime.InferenceSession(prepared.model, options, providers=["CPUExecutionProvider"])
        self._tokenizer = Tokenizer.from_str(prepared.tokenizer)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(PIECES)
        self.name: str = FORM
        self.dimension: int = self._session.get_outputs()[0].shape[-1]

    @classmethod
    def load(cls, cache_dir: Path | None = None) -> "OnnxEncoder":
        """The encoder, prepared first where it is not yet.

        Args:
            cache_dir: Folder of prepared models; None is the user's cache folder.

        Raises:
            ModelMissing: If it cannot be prepared.
        """
        return cls(Prepared.load(cache_dir))

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encodes texts in batches of similar length; see `Encoder.encode`."""
        pieces = self._pieces(texts)
        by_length = sorted(range(len(pieces)), key=lambda row: len(pieces[row].ids))
        rows = np.empty((len(pieces), self.dimension), dtype=np.float32)
        for first in range(0, len(by_length), BATCH):
            batch = by_length[first : first + BATCH]
            rows[batch] = self._pooled([pieces[row] for row in batch])
        return unit_rows(rows)

    def _pieces(self, texts: Sequence[str]) -> list[Encoding]:
        """Word pieces; a single text without the batch's thread pool."""
        if len(texts) == 1:
            return [self._tokenizer.encode(texts[0][:CHARACTERS])]
        return self._tokenizer.encode_batch([text[:CHARACTERS] for text in texts])

    def _pooled(self, batch: Sequence[Encoding]) -> Vectors:
        """The mean over each text's own word pieces, shape (texts, dimension)."""
        shape = (len(batch), max(len(encoding.ids) for encoding in batch))
        ids, mask = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for row, encoding in enumerate(batch):
            ids[row, : len(encoding.ids)] = encoding.ids
            mask[row, : len(encoding.ids)] = 1
        state = self._session.run(["last_hidden_state"], {"input_ids": ids, "attention_mask": mask})[0]
        share = (mask / mask.sum(axis=1, keepdims=True)).astype(np.float32)
        return np.asarray(np.matmul(share[:, None, :], state)[:, 0, :], dtype=np.float32)
