"""Which form a file has."""

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

from hotmem.errors import InvalidInput
from hotmem.portability.jsonl import TYPES
from hotmem.portability.mem0 import STATEMENT
from hotmem.portability.records import entries
from hotmem.portability.transcript import is_transcript

_JSON: Final = re.compile(rb'\{|\[\s*(?:[\[{"\]]|$)')
"""An object or a list; "[06/05/2024, 9:07] Ana: ..." begins a transcript."""


class FileForm(StrEnum):
    """What can be taken in."""

    HOTMEM = "hotmem"
    MEM0 = "mem0"
    MESSAGES = "messages"
    TRANSCRIPT = "transcript"


def form_of(path: Path) -> FileForm:
    """The form of a file, by what it begins with.

    Raises:
        InvalidInput: If it cannot be read, or is of none.
    """
    try:
        with path.open("rb") as file:
            begins = file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read ({type(error).__name__}). Pass a JSON Lines file or another program's export."
        ) from error
    found = None
    if _JSON.match(begins):
        first = next(entries(path), None)
        found = None if first is None else _of_record(first.value, listed=first.listed)
    elif begins and is_transcript(path):
        found = FileForm.TRANSCRIPT
    if found is None:
        known = "our own JSON Lines, an export of mem0, a list of messages with role and content, or a transcript of lines like 'Ana: text'"
        raise InvalidInput(
            f"{path} has no form that is known. Pass {known}; or name the form: {', '.join(FileForm)}."
        )
    return found


def _of_record(record: object, *, listed: bool) -> FileForm | None:
    if not isinstance(record, Mapping):
        return None
    if not listed and record.get("type") in TYPES:
        return FileForm.HOTMEM
    if "role" in record and "content" in record and "memory" not in record:
        return FileForm.MESSAGES
    return FileForm.MEM0 if any(name in record for name in STATEMENT) else None
