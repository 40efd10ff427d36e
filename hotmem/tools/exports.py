"""export_memories: write the data of a user to a file."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, TextIO

from pydantic import Field

from hotmem.core.location import EncryptionKey
from hotmem.core.output_files import new_file
from hotmem.errors import InvalidInput
from hotmem.memory import Memory
from hotmem.operations.requests import CLOSED
from hotmem.portability.jsonl import record_type
from hotmem.storage import queries
from hotmem.storage.sqlite import opening
from hotmem.text.validation import validate_id
from hotmem.types import Act, Action, UserKey

Progress = Callable[[str, int], None]
"""Callback for the stage and the number of records done; called from any thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportArguments:
    """Arguments of `export_memories`.

    Attributes:
        file: File to create.
    """

    __pydantic_config__ = CLOSED

    file: Annotated[str, Field(min_length=1, description="File to create.")]


@dataclass(frozen=True, slots=True)
class ExportResult:
    """Result of an export.

    Attributes:
        file: The file.
        lines: Number of lines by record type.
        encrypted: Always False: exports are plain, even of an encrypted memory.
    """

    file: str
    lines: Mapping[str, int]
    encrypted: bool = False


async def export_memories(
    memory: Memory,
    user_id: str,
    arguments: ExportArguments,
    progress: Progress = lambda _stage, _done: None,
) -> ExportResult:
    """Export a user as JSON Lines. The file appears when it is complete.

    Args:
        memory: An open memory.
        user_id: User ID.
        arguments: File to create.
        progress: Progress callback.

    Raises:
        InvalidInput: If the file exists or cannot be written, or the user is unknown.
        StoreError: If the memory cannot be read.
    """
    await _known_user(memory, user_id)
    target = Path(arguments.file)
    counts: Counter[str] = Counter()
    async with _created(target) as out:
        async for line in memory.export(user_id):
            out.write(line + "\n")  # buffered, so that few of these writes wait for the disk
            counts[record_type(line)] += 1
            progress("exporting", counts.total())
    return ExportResult(str(target), dict(counts))


async def export_subject(memory: Memory, user_id: str, target: Path) -> ExportResult:
    """Write all data held about a user as one JSON document to read; it cannot be imported.

    Args:
        memory: An open memory.
        user_id: User ID.
        target: File to create; not encrypted, even if the memory is.

    Raises:
        InvalidInput: If the file exists or cannot be written, or the user is unknown.
        StoreError: If the memory cannot be read.
    """
    user = await _known_user(memory, user_id)
    await memory.audit(Act(Action.EXPORT, "all"), user_id=user_id)
    async with _created(target) as out:
        counts = await memory.runtime.database.read(
            queries.subject_access.write, user, datetime.now(UTC), out
        )
    return ExportResult(str(target), counts)


async def _known_user(memory: Memory, user_id: str) -> UserKey:
    user = await memory.runtime.database.read_all(
        queries.users.find, validate_id(user_id, "user_id")
    )
    if user is None:
        raise InvalidInput(f"There is no user {user_id!r}. Pass the ID of a user of this memory.")
    return user


@asynccontextmanager
async def _created(target: Path) -> AsyncIterator[TextIO]:
    async with AsyncExitStack() as stack:
        file = await asyncio.to_thread(stack.enter_context, new_file(target))
        with await asyncio.to_thread(file.open, "w", encoding="utf-8") as out:
            yield out


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupArguments:
    """Arguments of `backup_restore`.

    Attributes:
        action: "backup" copies the memory file with all users while it is in use; "restore"
            creates a new memory file from a copy.
        file: The copy.
        target: New memory file of a restore. The open memory is not changed.
    """

    __pydantic_config__ = CLOSED

    action: Literal["backup", "restore"]
    file: Annotated[str, Field(min_length=1, description="The copy.")]
    target: (
        Annotated[
            str,
            Field(
                min_length=1,
                description="New memory file of a restore; the open memory is not changed.",
            ),
        ]
        | None
    ) = None


@dataclass(frozen=True, slots=True)
class BackupResult:
    """The created file, its size in bytes, and whether it is encrypted with the memory's key."""

    file: str
    bytes: int
    encrypted: bool


async def backup_restore(
    memory: Memory,
    _: str,
    arguments: BackupArguments,
    progress: Callable[[int, int], None] = lambda _left, _total: None,
) -> BackupResult:
    """Copy the memory file as of one moment while it is in use, or restore a copy.

    Args:
        memory: An open memory.
        arguments: Action and files.
        progress: Callback for the pages left and the total pages, from another thread.

    Raises:
        InvalidInput: If the file to create exists or is not given.
        StoreError: If one of the files cannot be used.
    """
    if arguments.action == "backup":
        if arguments.target is not None:
            raise InvalidInput("target is given for a backup. Pass the copy as file.")
        created = Path(arguments.file)
        await memory.runtime.database.read_all(opening.backup, created, progress)
        await memory.audit(Act(Action.BACKUP, "backup"), user_id=None)
    else:
        if arguments.target is None:
            raise InvalidInput("target is missing. Pass the memory file to create.")
        created = Path(arguments.target)
        key = await asyncio.to_thread(EncryptionKey.from_source, memory.options.key)
        await asyncio.to_thread(opening.restore, Path(arguments.file), created, key)
    size = (await asyncio.to_thread(created.stat)).st_size
    return BackupResult(str(created), size, memory.options.key is not None)
