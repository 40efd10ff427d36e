"""Prepared encoders: exported once from the published weights, checked at each load."""

import hashlib
import json
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from hotmem.core.logs import log
from hotmem.errors import ModelMissing
from hotmem.models.files import (
    MODEL,
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
