"""Any sentence-transformers model as an encoder."""

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from hotmem.core.logs import log
from hotmem.errors import ModelMissing
from hotmem.models.encoder import EncodedText, Vectors, unit_rows
from hotmem.models.files import MODEL, REPOSITORY, find_weights


class SentenceTransformerEncoder:
    """A sentence-transformers model by name or folder.

    Attributes:
        name: The name or folder as given.
        dimension: Dimension of the model's vectors.
    """

    def __init__(self, model: str) -> None:
        """Load the model.

        Args:
            model: A name on the model hub, or a folder. The weights of all-MiniLM-L6-v2 are taken
                from an installed package if possible.

        Raises:
            ModelMissing: If the model is missing or cannot be loaded, or sentence-transformers is
                not installed.
        """
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise ModelMissing(
                f"The encoder {model!r} needs sentence-transformers, which is not installed. "
                'Run: pip install "pipecat-hotmem[sentence-transformers]", '
                "or use the default encoder."
            ) from error
        known = model in (MODEL, REPOSITORY) and not Path(model).exists()
        source = str(find_weights()) if known else model
        if not known:
            log.info("model not checked", model=model, reason="no published checksums")
        try:
            self._model = SentenceTransformer(source, trust_remote_code=False)
        except (OSError, ValueError) as error:
            raise ModelMissing(
                f"The sentence-transformers model {model!r} cannot be loaded "
                f"({type(error).__name__}). Check its name or folder; offline, only folders and "
                "models in the hub's cache can be used."
            ) from error
        self._one_at_a_time = Lock()
        tokenizer = self._model.tokenizer
        self._special = [
            piece
            for piece in getattr(tokenizer, "all_special_ids", ())
            if piece != tokenizer.unk_token_id
        ]
        self.name: str = model
        self.dimension: int = np.shape(self._encode([""]))[1]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode texts; see `Encoder.encode`."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        with self._one_at_a_time:
            return unit_rows(self._encode(texts))

    def encode_tokens(self, texts: Sequence[str]) -> list[EncodedText]:
        """Encode texts with their tokens; see `TokenEncoder.encode_tokens`.

        Without token states (static embeddings), the token arrays are empty.
        """
        if not texts:
            return []
        with self._one_at_a_time:
            outputs: Any = self._model.encode(
                list(texts), output_value=None, show_progress_bar=False
            )
        return [self._reading(output) for output in outputs]

    def _reading(self, output: dict[str, Any]) -> EncodedText:
        """Convert the model's output for one text, without padding."""
        row = unit_rows(output["sentence_embedding"].float().cpu().numpy()[None])[0]
        if "token_embeddings" not in output:
            return EncodedText.from_vector(row)
        pieces = output["input_ids"].cpu().numpy()
        words = output["attention_mask"].cpu().numpy().astype(bool) & ~np.isin(
            pieces, self._special
        )
        return EncodedText(
            row, pieces[words], output["token_embeddings"].float().cpu().numpy()[words]
        )

    def _encode(self, texts: Sequence[str]) -> Vectors:
        return np.asarray(
            self._model.encode(list(texts), show_progress_bar=False, convert_to_numpy=True),
            dtype=np.float32,
        )
