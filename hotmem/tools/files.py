"""Tools that read and write files: export, import, backup."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, Final, Literal, TextIO

from pydantic import Field

from hotmem.core.location import EncryptionKey
from hotmem.core.output_files import new_file
from hotmem.core.validation import counted
from hotmem.errors import InvalidInput
from hotmem.memory import Memory
from hotmem.operations.requests import Request, zone
from hotmem.portability import UserMapping, classify, messages, transcript
from hotmem.portability.importer import (
    FileFormat,
    ImportSource,
    detect_format,
    hotmem_source,
    import_source,
)
from hotmem.portability.jsonl import memory_line, parse_lines, record_type
from hotmem.portability.messages import ConversationOptions, ForeignMemory, ImportNotes
from hotmem.storage import queries
from hotmem.storage.sqlite import opening
from hotmem.text.validation import validate_id
from hotmem.types import Act, Action, Category, ImportResult, Turn, UserKey

Progress = Callable[[str, int], None]
"""Callback for the stage and the number of records done; called from any thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportArguments(Request):
    """Arguments of `export_memories`.

    Attributes:
        file: File to create.
    """

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
    """Export the user's turns and memories to a new JSON Lines file.

    The file is not encrypted, even if the memory is.

    Note:
        The file appears when it is complete.

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
            queries.export_rows.write, user, datetime.now(UTC), out
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


FileName = Annotated[str, Field(min_length=1)]
SessionName = Annotated[
    str, Field(min_length=1, max_length=200, description="Session ID for a transcript.")
]
NEW_FILE: Final = "New memory file of a restore; the open memory is not changed."
USER_IN_FILE: Final = "User ID in the file whose records are imported as this user's."


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupArguments(Request):
    """Arguments of `backup_restore`.

    Attributes:
        action: "backup" copies the memory file with all users while it is in use; "restore"
            creates a new memory file from a copy.
        file: The copy.
        target: New memory file of a restore. The open memory is not changed.
    """

    action: Literal["backup", "restore"]
    file: Annotated[FileName, Field(description="The copy.")]
    target: Annotated[FileName, Field(description=NEW_FILE)] | None = None


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
    """Copy the whole memory file while it is in use, or create a new memory file from such a copy.

    The copy of an encrypted file has the same key.

    Note:
        The copy is as of one moment.

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
        key = await asyncio.to_thread(EncryptionKey.from_source, memory.runtime.options.key)
        await asyncio.to_thread(opening.restore, Path(arguments.file), created, key)
    size = (await asyncio.to_thread(created.stat)).st_size
    return BackupResult(str(created), size, memory.runtime.options.key is not None)


BOT_NAMES: Final = ("assistant", "bot", "ai")
"""Speakers of a transcript that are always the bot."""

FORGOTTEN_BEFORE: Final = (
    "deleted here before; with_forgotten (--with-forgotten) imports them again"
)
"""Reason for which a turn or memory is skipped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportArguments(Request):
    """Arguments of `import_memories`.

    Attributes:
        file: File to import.
        form: File format; None detects it.
        from_user: User ID in the file whose records are imported as this user's; other records
            are skipped. None imports this user's records and refuses others.
        session: Session ID for a transcript or messages; None is the file name.
        bots: Speakers that are the bot, besides "assistant", "bot" and "ai".
        timezone: Time zone of times without one, such as "Europe/Lisbon".
        day_first: Whether 06/05/2024 is in May; None detects it.
        with_forgotten: Also import turns and memories that were deleted here before.
    """

    file: Annotated[str, Field(min_length=1, description="File to import.")]
    form: Annotated[FileFormat | None, Field(description="File format; detected if left out.")] = (
        None
    )
    from_user: Annotated[str, Field(min_length=1, description=USER_IN_FILE)] | None = None
    session: SessionName | None = None
    bots: Annotated[
        tuple[str, ...],
        Field(max_length=100, description="Speakers of a transcript that are the bot."),
    ] = ()
    timezone: Annotated[
        str, Field(description="Time zone of times without one, such as Europe/Lisbon.")
    ] = "UTC"
    day_first: Annotated[
        bool | None, Field(description="Whether 06/05/2024 is in May; detected if left out.")
    ] = None
    with_forgotten: Annotated[
        bool, Field(description="Also import turns and memories that were deleted here before.")
    ] = False


@dataclass(frozen=True, slots=True)
class CategoryMapping:
    """Classification of the memories of a foreign category.

    Attributes:
        filed: Number of memories by category of HotMem.
        unsure: Number of memories whose category is uncertain.
    """

    filed: Mapping[Category, int]
    unsure: int


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Result of an import.

    Attributes:
        form: File format.
        turns: Number of new turns.
        memories: Number of new memories.
        known: Number of turns and memories that were already stored.
        sessions: Number of sessions in the file.
        left_out: Number of skipped records, by reason.
        categories: Classification by foreign category, "" for none; foreign categories are kept
            as tags.
        unsure_ids: IDs of memories with an uncertain category, at most 50.
        unsure: Other warnings, as sentences.
    """

    form: FileFormat
    turns: int
    memories: int
    known: int
    sessions: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    categories: Mapping[str, CategoryMapping] = field(default_factory=dict)
    unsure_ids: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()


async def import_memories(
    memory: Memory,
    user_id: str | None,
    arguments: ImportArguments,
    progress: Progress = lambda _stage, _done: None,
) -> ImportReport:
    """Import a HotMem or mem0 export, chat messages or a transcript.

    If a record is invalid, nothing is imported. Repeating it continues an interrupted import, and
    skips what exists.

    Note:
        Facts are extracted in the background after the import.

    Args:
        memory: An open memory.
        user_id: Target user ID; None is the user ID of each record.
        arguments: File and options.
        progress: Progress callback.

    Raises:
        InvalidInput: If the file or a record is invalid; the message names the record and field.
        StoreError: If the file cannot be written.
    """
    path, notes = Path(arguments.file), ImportNotes()
    target = None if user_id is None else validate_id(user_id, "user_id")
    users = UserMapping(target, arguments.from_user)
    if target is None and arguments.from_user is not None:
        raise InvalidInput(
            "from_user (--from-user) is given without user_id (--user). "
            "Pass the user ID that the records are imported to."
        )
    form = arguments.form
    if form is None:
        form = await asyncio.to_thread(detect_format, path)
    counted = count(1)

    def advance() -> None:
        progress("importing", next(counted))

    async def import_from(source: ImportSource) -> ImportResult:
        return await memory.import_records(source, advance, with_forgotten=arguments.with_forgotten)

    if form is FileFormat.MEM0:
        with TemporaryFile("w+", encoding="utf-8") as classified:
            undated = await asyncio.to_thread(_modified, path)
            found = messages.memories(path, users, undated, notes)
            await asyncio.to_thread(_classify, memory, found, notes, progress, classified)
            source = await asyncio.to_thread(
                import_source, path, form, parse_lines(classified), users
            )
            result = await import_from(source)
    elif form is FileFormat.HOTMEM:
        result = await import_from(await asyncio.to_thread(hotmem_source, path, users))
    else:
        session = arguments.session or path.stem
        key = (session, sorted(arguments.bots), arguments.timezone, arguments.day_first)
        turns = _conversation(form, path, users, arguments, notes)
        source = await asyncio.to_thread(import_source, path, form, turns, users, *key)
        result = await import_from(source)
    return _report(form, result, notes)


def _conversation(
    form: FileFormat,
    path: Path,
    users: UserMapping,
    arguments: ImportArguments,
    notes: ImportNotes,
) -> Iterator[Turn]:
    if users.user_id is None:
        raise InvalidInput(
            "user_id (--user) is missing. A transcript does not name a user; pass the user ID."
        )
    options = ConversationOptions(
        users.user_id,
        arguments.session or path.stem,
        frozenset(name.strip().casefold() for name in (*BOT_NAMES, *arguments.bots)),
        zone(arguments.timezone),
        _modified(path),
        arguments.day_first,
    )
    read = messages.turns if form is FileFormat.MESSAGES else transcript.turns
    yield from read(path, options, notes)


def _classify(
    memory: Memory,
    memories: Iterable[ForeignMemory],
    notes: ImportNotes,
    progress: Progress,
    out: TextIO,
) -> None:
    """Write the classified memories to a file, so that all are validated before the import."""
    encoder, language = memory.runtime.recall.encoder, memory.runtime.recall.language
    records = classify.classify_memories(memories, encoder, language, notes)
    for number, record in enumerate(records, 1):
        out.write(memory_line(record) + "\n")
        progress("classifying", number)
    out.seek(0)


def _report(form: FileFormat, result: ImportResult, notes: ImportNotes) -> ImportReport:
    warnings = [*notes.warnings]
    if notes.undated:
        warnings.append(
            f"{counted(notes.undated, 'record has', 'records have')} no date; "
            "the modification date of the file is used."
        )
    forgotten = {FORGOTTEN_BEFORE: result.forgotten} if result.forgotten else {}
    return ImportReport(
        form=form,
        turns=result.turns,
        memories=result.memories,
        known=result.known,
        sessions=result.sessions,
        left_out=dict(notes.skipped) | forgotten,
        categories={
            name: CategoryMapping(dict(counts.most_common()), notes.unsure[name])
            for name, counts in sorted(notes.categories.items())
        },
        unsure_ids=tuple(notes.unsure_ids),
        unsure=tuple(warnings),
    )


def _modified(path: Path) -> datetime:
    """Return the modification time of a file, UTC."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read ({type(error).__name__}). Pass a readable file."
        ) from error
