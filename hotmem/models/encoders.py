"""The encoders, and how their files are prepared and checked."""

import hashlib
import json
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, get_ident
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
from tokenizers import Tokenizer

from hotmem.core.logs import log
from hotmem.errors import ModelMissing
from hotmem.models.encoder import EncodedText, TokenIds, Vectors, unit_rows
from hotmem.models.files import (
    MODEL,
    REPOSITORY,
    cache_folder,
    check_files,
    checksum_file,
    find_weights,
    new_folder,
    others_can_write,
    read_checksums,
    remove_folder,
    sha256,
)

if TYPE_CHECKING:
    from onnxruntime import InferenceSession


@dataclass(frozen=True, slots=True)
class EncoderVariant:
    """A variant of the published encoder.

    Attributes:
        name: Identifies the vector space; change it when vectors are no longer comparable.
        trained: File with a projection and changes to the published weights, written by `python -m
            eval encoder train`; None for the published weights.
        checksum: Checksum file of `trained`; None for a file of the user's.
    """

    name: str
    trained: Path | None = None
    checksum: Path | None = None

    @classmethod
    def of(cls, trained: Path) -> Self:
        """Return the variant of a file by `python -m eval encoder train`, named after its content.

        Raises:
            ModelMissing: If the file does not exist.
        """
        if not trained.is_file():
            raise ModelMissing(
                f"There is no trained encoder {trained}. "
                "Check HOTMEM_ENCODER, or unset it for the default encoder."
            )
        return cls(f"{trained.stem}-{sha256(trained)[:8]}", trained)


PUBLISHED: Final = EncoderVariant(f"{MODEL}-int8-2")
"""The published weights. Files embedded by earlier versions are searched with it while they are
re-embedded."""

_TURNS: Final = "turns-1"

TURNS: Final = EncoderVariant(
    f"{_TURNS}-int8", Path(__file__).with_name(f"{_TURNS}.safetensors"), checksum_file(_TURNS)
)
"""The default: the published weights fine-tuned on synthetic conversations; see docs/encoder.md."""

VARIANTS: Final = (TURNS, PUBLISHED)
"""All variants that a memory file may have been embedded with."""

_EXPORT: Final = Path(__file__).with_name("export")
_MODEL_FILE: Final = "model.onnx"
_TOKENIZER_FILE: Final = "tokenizer.json"
_CHECKSUMS_FILE: Final = "sha256.json"


def prepared_folder(cache_dir: Path | None = None, form: EncoderVariant = TURNS) -> Path:
    """Return the folder of a prepared encoder.

    Its name contains a hash of the export code and the trained file, so that another version is
    never loaded.
    """
    sources = "".join(
        sha256(path) for path in (*sorted(_EXPORT.glob("*.py")), *filter(None, [form.trained]))
    )
    return (
        cache_folder(cache_dir) / f"{form.name}-{hashlib.sha256(sources.encode()).hexdigest()[:8]}"
    )


@dataclass(frozen=True, slots=True)
class Prepared:
    """The verified files of a prepared encoder: the ONNX graph and the tokenizer's JSON."""

    model: bytes
    tokenizer: str

    @classmethod
    def load(cls, cache_dir: Path | None = None, form: EncoderVariant = TURNS) -> Self:
        """Load a prepared encoder; prepare it first if it is missing or damaged.

        Args:
            cache_dir: Folder of prepared models; None is the user's cache folder.
            form: The variant.

        Raises:
            ModelMissing: If there are no weights to prepare it from, it cannot be stored, or
                another account can write to its folder.
        """
        folder = prepared_folder(cache_dir, form)
        if others_can_write(folder):
            raise ModelMissing(
                f"Other accounts can write to the prepared encoder in {folder}. "
                "Delete it, or choose another folder with cache_dir."
            )
        prepared = cls._read(folder)
        if prepared is None:
            _prepare(folder, form)
            prepared = cls._read(folder)
        if prepared is None:
            raise ModelMissing(
                f"The prepared encoder in {folder} was damaged right after it was written. "
                "Check the disk, or choose another folder with cache_dir."
            )
        return prepared

    @classmethod
    def _read(cls, folder: Path) -> Self | None:
        """Read a prepared encoder; None if it is missing or its checksums differ."""
        try:
            recorded = json.loads((folder / _CHECKSUMS_FILE).read_text("utf-8"))
            content = {
                name: (folder / name).read_bytes() for name in (_MODEL_FILE, _TOKENIZER_FILE)
            }
        except (OSError, ValueError):
            return None
        found = {name: hashlib.sha256(data).hexdigest() for name, data in content.items()}
        if (
            recorded != found
            or found[_TOKENIZER_FILE] != read_checksums(checksum_file(MODEL))[_TOKENIZER_FILE]
        ):
            return None
        return cls(content[_MODEL_FILE], content[_TOKENIZER_FILE].decode("utf-8"))


def _prepare(folder: Path, form: EncoderVariant) -> None:
    """Prepare a variant from the published weights, replacing a damaged folder.

    Raises:
        ModelMissing: If there are no weights, or the folder cannot be written.
    """
    from hotmem.models.export import export

    weights, started = find_weights(), time.perf_counter()
    if form.trained and form.checksum and check_files(form.trained.parent, form.checksum):
        raise ModelMissing(
            f"{form.trained} differs from the published file. "
            "Reinstall it: pip install --force-reinstall pipecat-hotmem"
        )
    try:
        if folder.exists():
            log.warning("prepared encoder damaged", folder=str(folder))
            remove_folder(folder)
        with new_folder(folder) as making:
            export(weights, making / _MODEL_FILE, form.trained)
            shutil.copyfile(weights / _TOKENIZER_FILE, making / _TOKENIZER_FILE)
            checksums = {name: sha256(making / name) for name in (_MODEL_FILE, _TOKENIZER_FILE)}
            (making / _CHECKSUMS_FILE).write_text(json.dumps(checksums), "utf-8")
    except OSError as error:
        raise ModelMissing(
            f"The encoder cannot be written to {folder} ({error.strerror}). "
            "Free or unlock it, or choose another folder with cache_dir."
        ) from error
    log.info("encoder prepared", model=form.name, seconds=round(time.perf_counter() - started, 1))


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
