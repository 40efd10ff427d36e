"""Prepare every model that a process loads, ahead of time: `hotmem prepare`."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hotmem.errors import ModelMissing
from hotmem.models.language import PACKAGE, installed_model, load_language
from hotmem.models.onnx import OnnxEncoder
from hotmem.models.preparation import TURNS, prepared_folder
from hotmem.models.sentence_transformer import SentenceTransformerEncoder
from hotmem.models.tokens import TokenCounter, prepared_table, table_path
from hotmem.options import ModelOptions

SAMPLE: Final = "My dog is called Potola."
"""Text that each model is run on once."""


@dataclass(frozen=True, slots=True)
class PreparedModel:
    """A model that was loaded and run once.

    Attributes:
        role: What it does.
        name: Which model it is.
        path: Its file or folder; None for one in the cache of the model hub.
        new: Whether it was prepared now; otherwise it was there before.
        checked: Whether its files were compared with the published ones.
    """

    role: str
    name: str
    path: Path | None
    new: bool
    checked: bool = True

    @property
    def size(self) -> int | None:
        """Bytes of its files; None where their place is unknown."""
        if self.path is None:
            return None
        files = self.path.rglob("*") if self.path.is_dir() else [self.path]
        return sum(file.stat().st_size for file in files if file.is_file())


def prepare(options: ModelOptions) -> Iterator[PreparedModel | ModelMissing]:
    """Prepare, load and run each model of the options; blocking, 3 to 10 s the first time.

    Yields:
        Each model that is ready, or the error that says what is missing.
    """
    for step in (_encoder, _token_table, _parser):
        try:
            yield step(options)
        except ModelMissing as error:
            yield error


def _encoder(options: ModelOptions) -> PreparedModel:
    if options.encoder != "default":
        SentenceTransformerEncoder(options.encoder).encode([SAMPLE])
        given = Path(options.encoder)
        return PreparedModel(
            "encoder", options.encoder, given if given.is_dir() else None, new=False, checked=False
        )
    folder = prepared_folder(options.cache_dir)
    before = _inode(folder)
    OnnxEncoder.load(options.cache_dir).encode([SAMPLE])
    return PreparedModel("encoder", TURNS.name, folder, new=_inode(folder) != before)


def _token_table(options: ModelOptions) -> PreparedModel:
    before = _inode(table_path(options.encoding, options.cache_dir))
    path = prepared_table(options.encoding, options.cache_dir)
    TokenCounter.load(options.encoding, options.cache_dir).count(SAMPLE)
    return PreparedModel("token table", options.encoding, path, new=_inode(path) != before)


def _parser(options: ModelOptions) -> PreparedModel:
    folder = installed_model()
    load_language().parse([SAMPLE])
    return PreparedModel(
        "parser", folder.name, folder, new=False, checked=folder.name.startswith(PACKAGE)
    )


def _inode(path: Path) -> int | None:
    """What tells a file or folder from one that took its place."""
    return path.stat().st_ino if path.exists() else None
