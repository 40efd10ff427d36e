"""Sources of an import, with a fingerprint by which an interrupted import is resumed."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path

from hotmem.errors import InvalidInput
from hotmem.portability.formats import FileFormat
from hotmem.portability.jsonl import check_export, read_export
from hotmem.portability.records import ALL_USERS, UserMapping
from hotmem.types import ImportRecord


@dataclass(frozen=True, slots=True)
class ImportSource:
    """The records of an import.

    Attributes:
        form: File format.
        source: Fingerprint (SHA-256, hex) of the file's content and the import's options.
        records: The records, in the same order each time.
    """

    form: FileFormat
    source: str
    records: Iterator[ImportRecord]


def import_source(
    path: Path,
    form: FileFormat,
    records: Iterable[ImportRecord],
    users: UserMapping,
    *options: object,
) -> ImportSource:
    """Return the records of a file with its fingerprint.

    Args:
        path: The file.
        form: File format.
        records: Records read from the file.
        users: Selection of records.
        options: Other options that the records depend on.

    Raises:
        InvalidInput: If the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            content = file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read ({type(error).__name__}). Pass a readable file."
        ) from error
    return ImportSource(
        form,
        sha256(
            json.dumps([form, content, users.user_id, users.from_user, *options]).encode()
        ).hexdigest(),
        iter(records),
    )


def hotmem_source(path: Path, users: UserMapping = ALL_USERS) -> ImportSource:
    """Return the records of a HotMem export or a file of turns, after validating the whole file.

    Raises:
        InvalidInput: If the file cannot be read, is not a HotMem export, or is truncated.
    """
    check_export(path)
    return import_source(path, FileFormat.HOTMEM, read_export(path, users), users)
