"""Detection of the format of an import file."""

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

from hotmem.errors import InvalidInput
from hotmem.portability.jsonl import TYPES
from hotmem.portability.messages import TEXT_FIELDS
from hotmem.portability.records import read_records
from hotmem.portability.transcript import is_transcript
from hotmem.storage.queries.subject_access import DOCUMENT_TYPE

_JSON: Final = re.compile(rb'\{|\[\s*(?:[\[{"\]]|$)')
"""Start of an object or a list, but not of a transcript: "[06/05/2024, 9:07] Ana: ..."."""

_SUBJECT_EXPORT: Final = re.compile(rb'\{\s*"type":\s*"%b"' % DOCUMENT_TYPE.encode())
"""Start of all data of a user as one document to read."""


class FileFormat(StrEnum):
    """Formats of import files."""

    HOTMEM = "hotmem"
    MEM0 = "mem0"
    MESSAGES = "messages"
    TRANSCRIPT = "transcript"


def detect_format(path: Path) -> FileFormat:
    """Detect the format of a file by its first bytes and its first record.

    Raises:
        InvalidInput: If the file cannot be read, has no supported format, or is a copy to read.
    """
    try:
        with path.open("rb") as file:
            start = file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    except FileNotFoundError as error:
        raise InvalidInput(
            f"{path} not found. Pass a JSON Lines file or an export of another program."
        ) from error
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read ({type(error).__name__}). "
            "Pass a JSON Lines file or an export of another program."
        ) from error
    if not start:
        raise InvalidInput(f"{path} is empty. Pass a file with conversations or memories.")
    if _SUBJECT_EXPORT.match(start):
        raise InvalidInput(
            f"{path} is a copy to read, made by `hotmem export --all`, and cannot be imported. "
            "Import a file that `hotmem export` wrote without --all."
        )
    found = None
    if _JSON.match(start):
        first = next(read_records(path), None)
        found = None if first is None else _format_of(first.value, listed=first.listed)
    elif is_transcript(path):
        found = FileFormat.TRANSCRIPT
    if found is None:
        raise InvalidInput(
            f"{path} has no supported format. Pass a HotMem or mem0 export, a list of messages "
            "with role and content, or a transcript with lines like 'Ana: text'; or name the "
            f"format (--form): {', '.join(FileFormat)}."
        )
    return found


def _format_of(record: object, *, listed: bool) -> FileFormat | None:
    if not isinstance(record, Mapping):
        return None
    if not listed and record.get("type") in TYPES:
        return FileFormat.HOTMEM
    if "role" in record and "content" in record and "memory" not in record:
        return FileFormat.MESSAGES
    return FileFormat.MEM0 if any(name in record for name in TEXT_FIELDS) else None
