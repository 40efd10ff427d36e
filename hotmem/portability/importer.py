"""Imports a file: its format, its records, whose they are."""

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Final, TypeVar

from hotmem.core.threads import ForegroundPriority
from hotmem.errors import InvalidInput, MemoryClosed, StoreError, StoreLocked
from hotmem.portability.jsonl import TYPES, check_export, read_export
from hotmem.portability.messages import ALL_USERS, TEXT_FIELDS, UserMapping, read_records
from hotmem.portability.transcript import is_transcript
from hotmem.storage import Storage, queries, steps
from hotmem.storage.database import Database
from hotmem.storage.queries.export_rows import DOCUMENT_TYPE
from hotmem.storage.queries.imports import ImportSession
from hotmem.types import ImportRecord, ImportResult

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


T = TypeVar("T")

BATCH: Final = 64
"""Records read at once, and links and sessions written in one transaction."""

WRITE_S: Final = 0.03
"""Maximum duration of a transaction in seconds, so that other writers get their turn."""


async def import_records(
    storage: Storage,
    priority: ForegroundPriority,
    source: ImportSource,
    progress: Callable[[], None],
    *,
    with_forgotten: bool = False,
) -> ImportResult:
    """Import records that are not stored yet: all of them, or none if one is invalid.

    Args:
        storage: Target storage.
        priority: Recalls take priority over each batch.
        source: The records.
        progress: Called after each record.
        with_forgotten: Also import turns and memories that were deleted before.

    Raises:
        InvalidInput: If a record is invalid; records before it are reverted.
        StoreLocked: If another program holds the file or runs the same import; the import can be
            resumed.
        StoreError: If a write fails; the import is reverted.
    """
    database = storage.database
    await revert_imports(storage, priority)
    session = await database.read_all(
        queries.imported_records.start, source.source, source.form, with_forgotten=with_forgotten
    )
    try:
        return await _import(database, priority, session, source, progress)
    except (StoreLocked, MemoryClosed):
        raise
    except Exception:  # the memory must be restored after any error
        # If the disk is full, for example, the background reverts the import later.
        with suppress(StoreError):
            await database.write_all(queries.imports.abort, session.source)
            await revert_imports(storage, priority)
        raise


async def revert_imports(storage: Storage, priority: ForegroundPriority) -> None:
    """Delete the records of imports that failed or were undone."""
    while await steps.roll_back_imports(storage.database, WRITE_S):
        await priority.wait_idle()


async def _import(
    database: Database,
    priority: ForegroundPriority,
    session: ImportSession,
    source: ImportSource,
    progress: Callable[[], None],
) -> ImportResult:
    before = 0
    while (batch := await asyncio.to_thread(session.next_batch, source.records, BATCH)) is not None:
        while batch:
            await priority.wait_idle()
            now = datetime.now(UTC)
            stored = await database.write_all(
                queries.imported_records.import_records, session, batch, now, WRITE_S
            )
            batch = batch[stored:]
        for _ in range(session.read.total() - before):
            progress()
        before = session.read.total()
    for links in _batches(session.links):
        await priority.wait_idle()
        await database.write_all(queries.imported_records.link, session, links, datetime.now(UTC))
    result = await database.write_all(queries.imported_records.finish, session, datetime.now(UTC))
    for sessions in _batches(sorted(session.pending_sessions)):
        await database.write_all(queries.imported_records.end_sessions, sessions)
    return result


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + BATCH] for start in range(0, len(items), BATCH))
