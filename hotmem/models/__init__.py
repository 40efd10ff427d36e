"""Models: text encoders, spaCy's parser, token counting, query rewriting.

    weights ─▶ export ─▶ preparation ─▶ onnx ─┐
                           │  └─▶ reader
    a name or folder ─▶ sentence_transformer ─┴▶ encoder ─▶ cache

Loading and calling a model blocks and is thread-safe: do it in worker threads.
"""

from functools import lru_cache
from pathlib import Path

from hotmem.core.logs import log
from hotmem.errors import ModelMissing
from hotmem.models.encoder import EncodedText, Encoder, TokenEncoder, Vectors, encode_tokens
from hotmem.models.encoders import (
    VARIANTS,
    EncoderVariant,
    OnnxEncoder,
    SentenceTransformerEncoder,
)
from hotmem.models.files import CachedEncoder
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


def load_former(identity: str, options: ModelOptions) -> Encoder | None:
    """Load the encoder that a memory file was embedded with before; blocking.

    Args:
        identity: Its name and dimension, as stored in the file.
        options: Encoder options, for the folder of prepared models.

    Returns:
        The encoder, or None if it is not available.
    """
    name = identity.rpartition("/")[0]
    form = _form(name)
    try:
        return (
            OnnxEncoder.load(options.cache_dir, form) if form else SentenceTransformerEncoder(name)
        )
    except (ModelMissing, OSError) as error:
        log.warning("former encoder not available", encoder=name, error=type(error).__name__)
        return None


def load_encoder(options: ModelOptions) -> CachedEncoder:
    """Load the configured encoder with its embedding cache; blocking.

    The first call on a machine also prepares the default encoder.

    Raises:
        ModelMissing: If the weights are missing or differ from the published ones.
    """
    return CachedEncoder(_encoder(options), options.embeddings_cached)


@lru_cache(maxsize=1)
def load_reader(cache_dir: Path | None) -> Reader | None:
    """Load the reader once in a process; blocking.

    The first call on a machine also prepares it.

    Returns:
        The reader, or None if its weights are missing, as with an encoder of the user's.
    """
    try:
        return Reader.load(cache_dir)
    except ModelMissing as error:
        log.warning("reader not available, only closed relations are read", reason=str(error))
        return None


def _form(name: str) -> EncoderVariant | None:
    return next((form for form in VARIANTS if form.name == name), None)


def _encoder(options: ModelOptions) -> TokenEncoder:
    if options.encoder == "default":
        return OnnxEncoder.load(options.cache_dir)
    if form := _form(options.encoder):
        return OnnxEncoder.load(options.cache_dir, form)
    if options.encoder.endswith(".safetensors"):
        return OnnxEncoder.load(options.cache_dir, EncoderVariant.of(Path(options.encoder)))
    return SentenceTransformerEncoder(options.encoder)
