"""The default encoder's prepared form: made once from the weights, checked each time it is read."""

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
    cache_folder,
    new_folder,
    others_can_write,
    remove_folder,
    sha256,
)
from hotmem.models.manifest import check_files, checksum_file, read_checksums
from hotmem.models.weights import MODEL, find_weights


@dataclass(frozen=True, slots=True)
class EncoderVariant:
    """A form of the published model.

    Attributes:
        name: Vectors go by it: change it when they are no longer comparable.
        trained: File of a projection, and of changes of the published matrices, by `python -m eval
            encoder train`; None for neither.
        checksum: The list that the file is compared with; None where it is the user's own.
    """

    name: str
    trained: Path | None = None
    checksum: Path | None = None

    @classmethod
    def of(cls, trained: Path) -> Self:
        """The form of a file by `python -m eval encoder train`, named after its content.

        Raises:
            ModelMissing: If there is no such file.
        """
        if not trained.is_file():
            raise ModelMissing(
                f"There is no trained encoder {trained}. Check HOTMEM_ENCODER, or leave it out for the default encoder."
            )
        return cls(f"{trained.stem}-{sha256(trained)[:8]}", trained)


PUBLISHED: Final = EncoderVariant(f"{MODEL}-int8-2")
"""The published model as it is: with its vectors older files are searched while they are
embedded anew."""

_TURNS: Final = "turns-1"

TURNS: Final = EncoderVariant(
    f"{_TURNS}-int8", Path(__file__).with_name(f"{_TURNS}.safetensors"), checksum_file(_TURNS)
)
"""The default: the published model trained on invented talks; see docs/encoder.md."""

VARIANTS: Final = (TURNS, PUBLISHED)
"""All forms that a file may have been embedded with."""

_EXPORT: Final = Path(__file__).with_name("export")
_MODEL_FILE: Final = "model.onnx"
_TOKENIZER_FILE: Final = "tokenizer.json"
_CHECKSUMS_FILE: Final = "sha256.json"


def prepared_folder(cache_dir: Path | None = None, form: EncoderVariant = TURNS) -> Path:
    """The folder of a prepared form, named after the export and the file that made it, so that another version's is never taken for it."""
    sources = "".join(
        sha256(path) for path in (*sorted(_EXPORT.glob("*.py")), *filter(None, [form.trained]))
    )
    return (
        cache_folder(cache_dir) / f"{form.name}-{hashlib.sha256(sources.encode()).hexdigest()[:8]}"
    )


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prepared encoder whose checksums were right: the ONNX graph and its tokenizer's JSON."""

    model: bytes
    tokenizer: str

    @classmethod
    def load(cls, cache_dir: Path | None = None, form: EncoderVariant = TURNS) -> Self:
        """Reads the prepared encoder.

        Prepares it first where it is missing or damaged (some 2 seconds).

        Args:
            cache_dir: Folder of prepared models; None is the user's cache folder.
            form: Which one.

        Raises:
            ModelMissing: If there are no weights to prepare it from, it cannot be kept, or another
                account can change it.
        """
        folder = prepared_folder(cache_dir, form)
        if others_can_write(folder):
            raise ModelMissing(
                f"The prepared encoder in {folder} can be changed by other accounts. Delete it, or choose another cache_dir."
            )
        prepared = cls._read(folder)
        if prepared is None:
            _prepare(folder, form)
            prepared = cls._read(folder)
        if prepared is None:
            raise ModelMissing(
                f"The prepared encoder in {folder} was damaged again at once. Check the disk, or choose another with cache_dir."
            )
        return prepared

    @classmethod
    def _read(cls, folder: Path) -> Self | None:
        """The prepared encoder, or None if it is not there or not as it was written."""
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
    """Makes the prepared folder of a form from the weights, in place of a damaged one.

    Raises:
        ModelMissing: If there are no weights, or the folder cannot be written.
    """
    from hotmem.models.export import export

    weights, started = find_weights(), time.perf_counter()
    if form.trained and form.checksum and check_files(form.trained.parent, form.checksum):
        raise ModelMissing(
            f"{form.trained} is not the published one. Install it anew: pip install --force-reinstall pipecat-hotmem"
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
            f"The encoder cannot be kept in {folder} ({error.strerror}). Free or unlock it, or choose another with cache_dir."
        ) from error
    log.info("encoder prepared", model=form.name, seconds=round(time.perf_counter() - started, 1))
