"""`hotmem prepare`: download, prepare and load every model ahead of time."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hotmem.errors import ModelMissing
from hotmem.models.encoders import (
    TURNS,
    OnnxEncoder,
    SentenceTransformerEncoder,
    prepared_folder,
)
from hotmem.models.language import PACKAGE, installed_model, load_language
from hotmem.models.reader import READER, Reader
from hotmem.models.tokens import TokenCounter, prepared_table, table_path
from hotmem.options import ModelOptions

SAMPLE: Final = "My dog is called Potola."
"""Text that each model is run on once."""


@dataclass(frozen=True, slots=True)
class PreparedModel:
    """A model that was loaded and run once.

    Attributes:
        role: Its purpose.
        name: Its name.
        path: Its file or folder; None for one in the cache of the model hub.
        new: Whether it was prepared by this call.
        checked: Whether its files were compared with the published checksums.
    """

    role: str
    name: str
    path: Path | None
    new: bool
    checked: bool = True

    @property
    def size(self) -> int | None:
        """Size of its files in bytes; None if the path is unknown."""
        if self.path is None:
            return None
        files = self.path.rglob("*") if self.path.is_dir() else [self.path]
        return sum(file.stat().st_size for file in files if file.is_file())


def prepare(options: ModelOptions) -> Iterator[PreparedModel | ModelMissing]:
    """Prepare, load and run each configured model; blocking.

    Yields:
        Each model that is ready, or the error that says what is missing.
    """
    for step in (_encoder, _reader, _token_table, _parser):
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


def _reader(options: ModelOptions) -> PreparedModel:
    folder = prepared_folder(options.cache_dir, READER)
    before = _inode(folder)
    Reader.load(options.cache_dir).read("", SAMPLE)
    return PreparedModel("reader", READER.name, folder, new=_inode(folder) != before)


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
    """Return the inode, which changes when a file or folder is replaced."""
    return path.stat().st_ino if path.exists() else None
