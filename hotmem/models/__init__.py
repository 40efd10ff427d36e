"""Models that read text: encoders, the language model of spaCy, the token count.

    weights ─▶ export ─▶ preparation ─▶ onnx ─┐
    a name or folder ─▶ sentence_transformer ─┴▶ encoder ─▶ cache

Everything here blocks and is thread-safe: load and call it from threads.
"""

from hotmem.models.cache import CachedEncoder
from hotmem.models.encoder import Encoder, Reading, TokenEncoder, Vectors, read
from hotmem.models.language import Language, load_language
from hotmem.models.onnx import OnnxEncoder
from hotmem.models.sentence_transformer import SentenceTransformerEncoder
from hotmem.models.tokens import TokenCounter
from hotmem.options import ModelOptions

__all__ = ["CachedEncoder", "Encoder", "Language", "Reading", "TokenCounter", "TokenEncoder", "Vectors", "load_encoder", "load_language", "read"]


def load_encoder(options: ModelOptions) -> CachedEncoder:
    """The encoder of the options, behind its cache. Blocking: 0.3 s, the very first time some 2 s.

    Raises:
        ModelMissing: If its weights are missing or wrong.
    """
    encoder: TokenEncoder = OnnxEncoder.load(options.cache_dir) if options.encoder == "default" else SentenceTransformerEncoder(options.encoder)
    return CachedEncoder(encoder, options.embeddings_cached)
