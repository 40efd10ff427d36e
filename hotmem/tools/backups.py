"""backup_restore: copy the whole memory file, or create a memory file from a copy."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from hotmem.core.encryption_key import EncryptionKey
from hotmem.errors import InvalidInput
from hotmem.memory import Memory
from hotmem.operations.requests import CLOSED
from hotmem.storage.sqlite import backups
from hotmem.types import Act, Action


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
        await memory.runtime.database.read_all(backups.backup, created, progress)
        await memory.audit(Act(Action.BACKUP, "backup"), user_id=None)
    else:
        if arguments.target is None:
            raise InvalidInput("target is missing. Pass the memory file to create.")
        created = Path(arguments.target)
        key = await asyncio.to_thread(EncryptionKey.from_source, memory.options.key)
        await asyncio.to_thread(backups.restore, Path(arguments.file), created, key)
    size = (await asyncio.to_thread(created.stat)).st_size
    return BackupResult(str(created), size, memory.options.key is not None)
