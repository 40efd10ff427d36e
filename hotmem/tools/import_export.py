"""Moving a memory: everything that is known of a user to a file and back, what other programs kept, and copies of the whole memory file."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, Final, Literal, TextIO, TypeVar

from pydantic import Field

from hotmem.core.encryption_key import EncryptionKey
from hotmem.core.output_files import new_file
from hotmem.errors import InvalidInput
from hotmem.memory import Memory
from hotmem.operations.requests import CLOSED, zone
from hotmem.portability import UserMapping, classify, mem0, messages, transcript
from hotmem.portability.foreign_records import Notes, Talk
from hotmem.portability.formats import FileForm, form_of
from hotmem.portability.jsonl import kind_of, parsed, written
from hotmem.portability.sources import incoming, own
from hotmem.storage import queries
from hotmem.storage.queries import maintenance as files
from hotmem.text.validation import validate_id
from hotmem.types import Act, Action, Category, ImportRecord, ImportResult

T = TypeVar("T")

BOTS: Final = ("assistant", "bot", "ai")
"""Names of speakers in a transcript that are the bot, besides those that are given."""

File = Annotated[str, Field(min_length=1, description="The file.")]
Progress = Callable[[str, int], None]
"""Told what is being done and how many records are, from another thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """Where an export goes.

    Attributes:
        file: A file that does not exist yet.
    """

    __pydantic_config__ = CLOSED

    file: File


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export holds: its file, and its lines by their type.

    It is plain, whether the memory file is or not.
    """

    file: str
    lines: Mapping[str, int]
    encrypted: bool = False


FORGOTTEN_BEFORE: Final = (
    "forgotten before, which stay out; with_forgotten (--with-forgotten) brings them back"
)
"""Why a turn or memory is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """What is taken in.

    Attributes:
        file: The file.
        form: What it is; None finds out.
        from_user: The user id in the file whose records are taken as this user's; others are left
            out. None takes this user's and refuses others.
        session: Name of the conversation of a transcript or of messages; None is the file's name.
        bots: Names of the speakers that are the bot, besides "assistant", "bot" and "ai".
        timezone: The time zone of clocks that name none, as "Europe/Lisbon".
        day_first: Whether 06/05/2024 is in May; None finds out.
        with_forgotten: Whether turns and memories come back that were forgotten since.
    """

    __pydantic_config__ = CLOSED

    file: File
    form: Annotated[FileForm | None, Field(description="What it is; found out, if left out.")] = (
        None
    )
    from_user: (
        Annotated[
            str,
            Field(
                min_length=1,
                description="The user id in the file whose records are taken as this user's.",
            ),
        ]
        | None
    ) = None
    session: (
        Annotated[
            str,
            Field(
                min_length=1,
                max_length=200,
                description="Name of the conversation of a transcript.",
            ),
        ]
        | None
    ) = None
    bots: Annotated[
        tuple[str, ...],
        Field(
            max_length=100, description="Names of the speakers in a transcript that are the bot."
        ),
    ] = ()
    timezone: Annotated[
        str, Field(description="Time zone of clocks that name none, as Europe/Lisbon.")
    ] = "UTC"
    day_first: Annotated[
        bool | None, Field(description="Whether 06/05/2024 is in May; found out, if left out.")
    ] = None
    with_forgotten: Annotated[
        bool, Field(description="Whether turns and memories come back that were forgotten since.")
    ] = False


@dataclass(frozen=True, slots=True)
class CategoryTaken:
    """What became of a foreign category.

    How many memories of it were filed under each of ours, and of how many it is unsure.
    """

    filed: Mapping[Category, int]
    unsure: int


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import brought.

    Attributes:
        form: What the file is.
        turns: Turns that were not there.
        memories: Memories that were not there.
        known: Turns and memories that were.
        sessions: Conversations in the file.
        left_out: Records that are not taken, by reason.
        categories: Where memories of each foreign category went; "" are those of none. It stays
            with them as a tag.
        unsure_ids: Memories whose category is unsure, 50 at most.
        unsure: What else was unsure, in sentences.
    """

    form: FileForm
    turns: int
    memories: int
    known: int
    sessions: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    categories: Mapping[str, CategoryTaken] = field(default_factory=dict)
    unsure_ids: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Copying:
    """A copy to make, or to make a memory file of.

    Attributes:
        action: "backup" copies the memory file, all users together, while bots go on talking;
            "restore" makes a new memory file of a copy.
        file: The copy.
        target: The new memory file of a restore. The one that is open stays as it is.
    """

    __pydantic_config__ = CLOSED

    action: Literal["backup", "restore"]
    file: Annotated[str, Field(min_length=1, description="The copy.")]
    target: (
        Annotated[
            str,
            Field(
                min_length=1,
                description="The new memory file of a restore; the open one stays as it is.",
            ),
        ]
        | None
    ) = None


@dataclass(frozen=True, slots=True)
class Copied:
    """The file that was made, its size, and whether it is encrypted, which it is with the key of the open memory."""

    file: str
    bytes: int
    encrypted: bool


async def export_memories(
    memory: Memory, user_id: str, asked: Export, progress: Progress = lambda _stage, _done: None
) -> Exported:
    """Writes everything that is known of a user as JSON Lines.

    A file of that name is there once all of it is.

    Args:
        memory: An open memory.
        user_id: Whose memory.
        asked: Where it goes.
        progress: Told of each page of lines.

    Raises:
        InvalidInput: If the file exists or cannot be written, or nothing is known of the user.
        StoreError: If the memory cannot be read.
    """
    target = Path(asked.file)
    if (
        await memory.runtime.storage.database.read(
            queries.users.find, validate_id(user_id, "user_id")
        )
        is None
    ):
        raise InvalidInput(
            f"user_id is {user_id!r}, of whom nothing is known. Name a user of this memory."
        )
    counted: Counter[str] = Counter()
    async with AsyncExitStack() as stack:
        file = await asyncio.to_thread(stack.enter_context, new_file(target))
        with await asyncio.to_thread(file.open, "w", encoding="utf-8") as out:
            async for line in memory.export(user_id):
                out.write(line + "\n")  # buffered: the disk is waited for once in many lines
                counted[kind_of(line)] += 1
                progress("exporting", counted.total())
    return Exported(str(target), dict(counted))


async def export_subject(memory: Memory, user_id: str, target: Path) -> Exported:
    """Writes everything that is held of a user as one JSON document for people, which no import takes.

    Args:
        memory: An open memory.
        user_id: Whose memory.
        target: Where it goes. It is plain, whether the memory is encrypted or not.

    Raises:
        InvalidInput: If the file exists or cannot be written, or nothing is known of the user.
        StoreError: If the memory cannot be read.
    """
    user = await memory.runtime.storage.database.read(
        queries.users.find, validate_id(user_id, "user_id")
    )
    if user is None:
        raise InvalidInput(
            f"user_id is {user_id!r}, of whom nothing is known. Name a user of this memory."
        )
    await memory.audit(Act(Action.EXPORT, "all"), user_id=user_id)
    async with AsyncExitStack() as stack:
        file = await asyncio.to_thread(stack.enter_context, new_file(target))
        with await asyncio.to_thread(file.open, "w", encoding="utf-8") as out:
            counts = await memory.runtime.storage.database.read(
                queries.subject_access.write, user, datetime.now(UTC), out
            )
    return Exported(str(target), counts)


async def import_memories(
    memory: Memory,
    user_id: str | None,
    asked: Import,
    progress: Progress = lambda _stage, _done: None,
) -> ImportReport:
    """Takes in our own form, an export of mem0, chat messages or a transcript.

    All of it or, if something cannot be used, nothing.

    What is there already stays as it is. One that was broken off goes on where it stopped when it
    is repeated. What is taken in is understood in the background, once all of it is.

    Args:
        memory: An open memory.
        user_id: Whose memory it goes into; None is each record's own user.
        asked: What is taken in.
        progress: Told of each record.

    Raises:
        InvalidInput: If the file or one of its records cannot be used, naming it and its field.
        StoreError: If it could not be written.
    """
    path, notes = Path(asked.file), Notes()
    whose = UserMapping(
        None if user_id is None else validate_id(user_id, "user_id"), asked.from_user
    )
    if whose.user_id is None and asked.from_user is not None:
        raise InvalidInput(
            "from_user (--from-user) is given without a user_id (--user). Say whose memory the records go into."
        )
    form = await asyncio.to_thread(form_of, path) if asked.form is None else asked.form
    counted = count(1)

    def tell() -> None:
        progress("taking in", next(counted))

    if form is FileForm.MEM0:
        taken = await _taken_filed(
            memory, path, whose, notes, progress, tell, with_forgotten=asked.with_forgotten
        )
    elif form is FileForm.HOTMEM:
        taken = await memory.import_records(
            await asyncio.to_thread(own, path, whose), tell, with_forgotten=asked.with_forgotten
        )
    else:
        how = (asked.session or path.stem, sorted(asked.bots), asked.timezone, asked.day_first)
        records = _talk(form, path, whose, asked, notes)
        taken = await memory.import_records(
            await asyncio.to_thread(incoming, path, form, records, whose, *how),
            tell,
            with_forgotten=asked.with_forgotten,
        )
    return _report(form, taken, notes)


async def backup_restore(
    memory: Memory,
    _: str,
    asked: Copying,
    progress: Callable[[int, int], None] = lambda _left, _whole: None,
) -> Copied:
    """Copies the memory's file, as it is at one moment, while bots go on talking.

    Or makes a new memory file of a copy.

    Args:
        memory: An open memory.
        asked: What is copied where.
        progress: Told pages left and pages in all, now and then, from another thread.

    Raises:
        InvalidInput: If the file to be made exists, or is not named.
        StoreError: If one of the files cannot be used.
    """
    if asked.action == "backup":
        if asked.target is not None:
            raise InvalidInput(
                "target is given with the action 'backup'. The copy is named by file."
            )
        made = Path(asked.file)
        await memory.runtime.storage.database.read(queries.maintenance.backup, made, progress)
        await memory.audit(Act(Action.BACKUP, "backup"), user_id=None)
    else:
        if asked.target is None:
            raise InvalidInput("target is missing. Name the new memory file that the copy becomes.")
        made = Path(asked.target)
        await asyncio.to_thread(
            files.restore,
            Path(asked.file),
            made,
            await asyncio.to_thread(EncryptionKey.from_source, memory.options.key),
        )
    return Copied(
        str(made), (await asyncio.to_thread(made.stat)).st_size, memory.options.key is not None
    )


def _talk(
    form: FileForm, path: Path, whose: UserMapping, asked: Import, notes: Notes
) -> Iterator[ImportRecord]:
    if whose.user_id is None:
        raise InvalidInput(
            "user_id is missing. A transcript does not say whose memory it goes into; name it (--user)."
        )
    bots = frozenset(name.strip().casefold() for name in (*BOTS, *asked.bots))
    talk = Talk(
        whose.user_id,
        asked.session or path.stem,
        bots,
        zone(asked.timezone),
        _changed(path),
        asked.day_first,
    )
    yield from (messages.turns if form is FileForm.MESSAGES else transcript.turns)(
        path, talk, notes
    )


async def _taken_filed(
    memory: Memory,
    path: Path,
    whose: UserMapping,
    notes: Notes,
    progress: Progress,
    tell: Callable[[], None],
    *,
    with_forgotten: bool,
) -> ImportResult:
    """Files the memories of a foreign file, so that all are known to be usable, and then takes them in."""
    undated = await asyncio.to_thread(_changed, path)

    def write(out: TextIO) -> None:
        found = mem0.memories(path, whose, undated, notes)
        for record in _told(
            classify.records(
                found, memory.runtime.recall.encoder, memory.runtime.recall.language, notes
            ),
            "filing",
            progress,
        ):
            out.write(written(record) + "\n")
        out.seek(0)

    with TemporaryFile("w+", encoding="utf-8") as between:
        await asyncio.to_thread(write, between)
        return await memory.import_records(
            await asyncio.to_thread(incoming, path, FileForm.MEM0, parsed(between), whose),
            tell,
            with_forgotten=with_forgotten,
        )


def _told(records: Iterable[T], stage: str, progress: Progress) -> Iterator[T]:
    """The records, each told of."""
    for done, record in enumerate(records, 1):
        yield record
        progress(stage, done)


def _report(form: FileForm, taken: ImportResult, notes: Notes) -> ImportReport:
    told = [*notes.told]
    if notes.undated:
        told.append(
            f"{notes.undated} records carry no date; they count as of the day on which the file was last changed."
        )
    return ImportReport(
        form=form,
        turns=taken.turns,
        memories=taken.memories,
        known=taken.known,
        sessions=taken.sessions,
        left_out=dict(notes.left_out)
        | ({FORGOTTEN_BEFORE: taken.forgotten} if taken.forgotten else {}),
        categories={
            name: CategoryTaken(dict(filed.most_common()), notes.unsure[name])
            for name, filed in sorted(notes.filed.items())
        },
        unsure_ids=tuple(notes.ids),
        unsure=tuple(told),
    )


def _changed(path: Path) -> datetime:
    """When a file was last changed, UTC."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read ({type(error).__name__}). Name a file that you may read."
        ) from error
