"""Models: text encoders, spaCy's parser, token counting, query rewriting.

    shipped files ─▶ graphs ─┬▶ encoder ─▶ cache
                             └▶ reader
    a name or folder ─▶ sentence_transformer ─▶ encoder ─▶ cache

Loading and calling a model blocks and is thread-safe: do it in worker threads.
"""

import re
from functools import lru_cache
from pathlib import Path
from typing import Final

from hotmem.core.logs import log
from hotmem.errors import ModelMissing
from hotmem.models.encoder import (
    CachedEncoder,
    EncodedText,
    Encoder,
    TokenEncoder,
    Vectors,
    encode_tokens,
)
from hotmem.models.encoders import TURNS, OnnxEncoder, SentenceTransformerEncoder
from hotmem.models.language import Language, load_language
from hotmem.models.reader import Reader
from hotmem.models.tokens import TokenCounter
from hotmem.options import ModelOptions

__all__ = [
    "CachedEncoder",
    "EncodedText",
    "Encoder",
    "Language",
    "Reader",
    "TokenCounter",
    "TokenEncoder",
    "Vectors",
    "encode_tokens",
    "load_encoder",
    "load_former",
    "load_language",
    "load_reader",
]


_OF_FILE: Final = re.compile(r"-(?:[0-9a-f]{8}|int8(?:-\d+)?)$")
"""Names of encoders in files, which no model hub has."""


def load_former(identity: str) -> Encoder | None:
    """Load the encoder that a memory file was embedded with before; blocking.

    Args:
        identity: Its name and dimension, as stored in the file.

    Returns:
        The encoder, or None if it is not available.
    """
    name = identity.rpartition("/")[0]
    if name == TURNS:
        return OnnxEncoder.load()
    try:
        if _OF_FILE.search(name):
            raise ModelMissing(f"The file of the encoder {name} is not known.")
        return SentenceTransformerEncoder(name)
    except (ModelMissing, OSError) as error:
        log.warning("former encoder not available", encoder=name, error=type(error).__name__)
        return None


def load_encoder(options: ModelOptions) -> CachedEncoder:
    """Load the configured encoder with its embedding cache; blocking.

    Raises:
        ModelMissing: If the encoder is missing, or differs from the published one.
    """
    return CachedEncoder(_encoder(options.encoder), options.embeddings_cached)


@lru_cache(maxsize=1)
def load_reader() -> Reader:
    """Load the reader once in a process; blocking.

    Raises:
        ModelMissing: If it is missing, or not the published one.
    """
    return Reader.load()


def _encoder(name: str) -> TokenEncoder:
    if name == "default":
        return OnnxEncoder.load()
    if name.endswith(".onnx"):
        return OnnxEncoder.load(Path(name))
    return SentenceTransformerEncoder(name)
