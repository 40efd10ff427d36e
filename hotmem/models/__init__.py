"""Models that read text: encoders, the language model of spaCy, the token count.

    weights ─▶ export ─▶ preparation ─▶ onnx ─┐
    a name or folder ─▶ sentence_transformer ─┴▶ encoder ─▶ cache

Everything here blocks and is thread-safe: load and call it from threads.
"""

from pathlib import Path

from hotmem.core.logs import log
from hotmem.errors import ModelMissing
from hotmem.models.cache import CachedEncoder
from hotmem.models.encoder import EncodedText, Encoder, TokenEncoder, Vectors, encode_tokens
from hotmem.models.language import Language, load_language
from hotmem.models.onnx import OnnxEncoder
from hotmem.models.preparation import VARIANTS, EncoderVariant
from hotmem.models.sentence_transformer import SentenceTransformerEncoder
from hotmem.models.tokens import TokenCounter
from hotmem.options import ModelOptions

__all__ = [
    "CachedEncoder",
    "EncodedText",
    "Encoder",
    "Language",
    "TokenCounter",
    "TokenEncoder",
    "Vectors",
    "encode_tokens",
    "load_encoder",
    "load_former",
    "load_language",
]


def load_former(identity: str, options: ModelOptions) -> Encoder | None:
    """The encoder that a file names as its former one, if it is available; blocking.

    Args:
        identity: Its name and dimension, as the file has it.
        options: Where models lie.
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
    """The encoder of the options, behind its cache. Blocking: 0.3 s, the very first time some 2 s.

    Raises:
        ModelMissing: If its weights are missing or wrong.
    """
    return CachedEncoder(_encoder(options), options.embeddings_cached)


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
