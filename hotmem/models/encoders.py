"""The encoders: the shipped one, others in its format, and those of sentence-transformers."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, get_ident
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hotmem.core.logs import log
from hotmem.errors import ModelMissing
from hotmem.models.encoder import EncodedText, TokenIds, Vectors, unit_rows
from hotmem.models.files import load_shipped, load_tokenizer, read_shipped, sha256

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

TURNS: Final = "turns-1-int8"
"""Name of the default encoder: all-MiniLM-L6-v2 fine-tuned on synthetic conversations; see
docs/encoder.md."""

MAX_TOKENS: Final = 256
"""Maximum sequence length the model was trained on, in tokens."""

MAX_CHARACTERS: Final = 16_384
"""Maximum characters passed to the tokenizer; far more than `MAX_TOKENS` tokens of speech."""

MAX_TEXTS: Final = 128
"""Texts whose states the shared layers keep; 30 KB each for 20 tokens."""

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


class TokenStates(NamedTuple):
    """The tokens of a text, with a state of each.

    Attributes:
        pieces: Token ids with the special tokens around the text, int64, shape (tokens,).
        spans: First character and one past the last of each token; the special ones have none.
        states: float32, shape (tokens, dimension).
    """

    pieces: TokenIds
    spans: Sequence[tuple[int, int]]
    states: Vectors


class WordEmbeddings:
    """The word embeddings that all shipped graphs share; thread-safe.

    Raises:
        ModelMissing: If a file is missing, or not the published one.
    """

    def __init__(self) -> None:
        arrays: dict[str, Any] = load_shipped("words.npz")
        self._integers: NDArray[np.int8] = arrays["integers"]
        self._factors: NDArray[np.float32] = arrays["factors"]
        self._tokenizer = load_tokenizer(MAX_TOKENS)

    def of(self, text: str) -> TokenStates:
        """Return the embeddings of a text's tokens."""
        encoding = self._tokenizer.encode(text[:MAX_CHARACTERS])
        pieces = np.array(encoding.ids, dtype=np.int64)
        states = self._integers[pieces].astype(np.float32) * self._factors[pieces]
        return TokenStates(pieces, encoding.offsets, states)


class TextLayers:
    """The lower layers that the encoder and the reader share, run over each text alone.

    A turn is embedded, read, and compared with several statements, each of them with several turns:
    the states of the latest texts are kept. Thread-safe.

    Args:
        model: The graph.
        words: The embeddings of its input.
    """

    def __init__(self, model: bytes, words: WordEmbeddings) -> None:
        self._session = open_session(model)
        self._words = words
        self.of: Callable[[str], TokenStates] = lru_cache(MAX_TEXTS)(self._run)

    def _run(self, text: str) -> TokenStates:
        entered = self._words.of(text)
        return entered._replace(states=run_graph(self._session, entered.states)[0])


@cache
def word_embeddings() -> WordEmbeddings:
    """Load the word embeddings once in a process; blocking.

    Raises:
        ModelMissing: If they are missing, or not the published ones.
    """
    return WordEmbeddings()


@cache
def text_layers() -> TextLayers:
    """Load the shared layers once in a process; blocking.

    Raises:
        ModelMissing: If they are missing, or not the published ones.
    """
    return TextLayers(read_shipped("texts-1.onnx"), word_embeddings())


class OnnxEncoder:
    """Mean pooling over the last hidden states, with int8 weights and activations.

    For a model with a projection, token states are the projected states.

    Args:
        model: The graph.
        name: Name of its vector space.
        entered: What its input is made by: the shared layers, or the word embeddings.

    Attributes:
        name: Name of its vector space.
        dimension: 384.
    """

    def __init__(self, model: bytes, name: str, entered: WordEmbeddings | TextLayers) -> None:
        self._session = open_session(model)
        self._entered = entered
        self.name: str = name
        self.dimension: int = self._session.get_outputs()[0].shape[-1]

    @classmethod
    def load(cls, file: Path | None = None) -> Self:
        """Load the default encoder, or one by `python -m eval encoder export`; blocking.

        Args:
            file: The graph (.onnx), which the encoder is named after, with its content; None for
                the default encoder.

        Raises:
            ModelMissing: If it does not exist, or the default one is not the published one.
        """
        if file is None:
            return cls(read_shipped("turns-1.onnx"), TURNS, text_layers())
        if not file.is_file():
            raise ModelMissing(
                f"There is no encoder {file}. "
                "Check HOTMEM_ENCODER, or unset it for the default encoder."
            )
        return cls(file.read_bytes(), f"{file.stem}-{sha256(file)[:8]}", word_embeddings())

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode texts one by one; see `Encoder.encode`.

        A batch is not faster on one thread. Also, int8 activations are scaled over a whole run, so
        in a batch a text's vector would depend on the other texts.
        """
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            states, *_ = run_graph(self._session, self._entered.of(text).states)
            rows[row] = states.mean(axis=0)
        return unit_rows(rows)

    def encode_tokens(self, texts: Sequence[str]) -> list[EncodedText]:
        """Encode texts with their tokens, one by one; see `TokenEncoder.encode_tokens`."""
        return [self._encode_text(text) for text in texts]

    def _encode_text(self, text: str) -> EncodedText:
        entered = self._entered.of(text)
        states, *codes = run_graph(self._session, entered.states)
        return EncodedText(
            unit_rows(states.mean(axis=0, keepdims=True))[0],
            entered.pieces[1:-1],
            (codes[0] if codes else states)[1:-1],
        )


def run_graph(session: "InferenceSession", states: Vectors) -> list[Vectors]:
    """Run a graph over the states of one text's tokens; each output has shape (tokens, width)."""
    (taken,) = session.get_inputs()
    return [values[0] for values in session.run(None, {taken.name: states[np.newaxis]})]


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


class SentenceTransformerEncoder:
    """A sentence-transformers model by name or folder.

    Attributes:
        name: The name or folder as given.
        dimension: Dimension of the model's vectors.
    """

    def __init__(self, model: str) -> None:
        """Load the model.

        Args:
            model: A name on the model hub, or a folder.

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
        log.info("model not checked", model=model, reason="no published checksums")
        try:
            self._model = SentenceTransformer(model, trust_remote_code=False)
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
