"""Files on their way in.

Told from each other, so that an import that was broken off goes on where it stopped.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path

from hotmem.errors import InvalidInput
from hotmem.portability.formats import FileForm
from hotmem.portability.jsonl import check, imported
from hotmem.portability.user_mapping import EVERYONE, UserMapping
from hotmem.types import ImportRecord


@dataclass(frozen=True, slots=True)
class Incoming:
    """What an import takes in.

    Attributes:
        form: What the file is.
        source: Tells it, read in this way, from all others; nothing of its words can be read from
            it.
        records: Its records, the same each time.
    """

    form: FileForm
    source: str
    records: Iterator[ImportRecord]


def incoming(
    path: Path, form: FileForm, records: Iterable[ImportRecord], whose: UserMapping, *how: object
) -> Incoming:
    """The records of a file.

    Args:
        path: The file.
        form: What it is.
        records: What is read of it.
        whose: Whose records are taken.
        how: What else its records depend on.

    Raises:
        InvalidInput: If the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            content = file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read ({type(error).__name__}). Pass a file that you may read."
        ) from error
    return Incoming(
        form,
        sha256(
            json.dumps([form, content, whose.user_id, whose.from_user, *how]).encode()
        ).hexdigest(),
        iter(records),
    )


def own(path: Path, whose: UserMapping = EVERYONE) -> Incoming:
    """An export of ours, or a file of turns, which is read through once before anything of it is taken.

    Raises:
        InvalidInput: If it cannot be read, is not of our form, or is half of an export.
    """
    check(path)
    return incoming(path, FileForm.HOTMEM, imported(path, whose), whose)
