"""What the commands share.

The screen, the options that say which memory is meant, and how it is opened.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Annotated, Final, TypeVar

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.segment import Segment

from hotmem import Memory
from hotmem.errors import InvalidInput
from hotmem.operations.actor import acting
from hotmem.settings import Settings
from hotmem.storage import queries
from hotmem.storage.queries.ids import Table
from hotmem.storage.sqlite.files import check_reachable
from hotmem.text.escaping import escape_for_display
from hotmem.text.validation import validate_id
from hotmem.types import Actor


class _Screen(Console):
    """A console on which no text moves the cursor, changes colours or turns the direction of writing: only styles do."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else escape_for_display(text), style, control)


def console(*, stderr: bool = False, width: int | None = None) -> Console:
    """A console that shows every string as it is.

    What has a style is a `Text`, or printed with one.

    This is the one place that keeps memory text from being read as markup or as codes of the
    terminal.
    """
    return _Screen(stderr=stderr, width=width, markup=False, highlight=False, emoji=False)


screen = console()

Database = Annotated[
    Path | None,
    typer.Option("--database", "-d", help="The memory file. (default: HOTMEM_DATABASE, memory.db)"),
]
User = Annotated[
    str, typer.Option("--user", "-u", help="Whose memory: the user id that your bot gives.")
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Let it take the place of a file of that name.")
]

Given = TypeVar("Given", str, list[str])

USERS_NAMED: Final = 10
"""Users that are named where one is unknown."""

COLUMNS: Final = (
    TextColumn("{task.description}"),
    BarColumn(),
    MofNCompleteColumn(),
    TimeRemainingColumn(),
)


def moment(option: typer.CallbackParam, given: str | None) -> str | None:
    """A day or a time as it is typed, with the time zone of HOTMEM_TIME_ZONE, else this machine's, where it names none.

    Raises:
        InvalidInput: If it is neither, naming the option.
    """
    if given is None:
        return None
    try:
        told = datetime.fromisoformat(given.strip())
        return (told if told.tzinfo else in_place(told, Settings().time_zone)).isoformat()
    except (ValueError, OverflowError) as error:
        raise InvalidInput(
            f"{option.opts[0]} is {given!r}. Write a day as 2026-03-01, or a time as 2026-03-01T18:30 or 2026-03-01T18:30+01:00."
        ) from error


def in_place(told: datetime, zone: tzinfo | None) -> datetime:
    """The time by the clocks of a zone; of this machine's, if None."""
    return told.replace(tzinfo=zone) if zone else told.astimezone()


def progress() -> Progress:
    """A progress bar on standard error, so that standard output holds the answer alone."""
    return Progress(*COLUMNS, console=console(stderr=True))


def counting(shown: Progress) -> Callable[[str, int], None]:
    """Tells a progress bar what is being done and how many records are.

    Each sort of work has a line of its own.
    """
    bars: dict[str, TaskID] = {}

    def tell(stage: str, done: int) -> None:
        if stage not in bars:
            bars[stage] = shown.add_task(stage, total=None)
        shown.update(bars[stage], completed=done)

    return tell


def existing(database: Path | None) -> Path:
    """The memory file of a command that makes none."""
    return checked_file(
        database or Settings().database,
        "Name a memory file with --database, or set HOTMEM_DATABASE.",
    )


def checked_file(path: Path, fix: str) -> Path:
    """The path of a file that is there, unchanged.

    Args:
        path: The path.
        fix: What to do if it is not.

    Raises:
        InvalidInput: If no file is there.
    """
    check_reachable(path)
    if path.is_file():
        return path
    fact = "is a folder" if path.is_dir() else "is no file" if path.exists() else "is not there"
    raise InvalidInput(f"{path} {fact}. {fix}")


async def checked_user(memory: Memory, user_id: str) -> None:
    """Raises an error for a user of whom nothing is known, naming those that there are.

    Raises:
        InvalidInput: If nothing is known of the user.
    """
    if (
        await memory.runtime.storage.database.read(
            queries.users.find, validate_id(user_id, "user_id")
        )
        is not None
    ):
        return
    others = await memory.runtime.storage.database.read(queries.users.names, USERS_NAMED + 1)
    if not others:
        raise InvalidInput(
            f"{memory.path} is empty: nothing has been remembered yet. Name another file with --database, or talk to a bot first."
        )
    named = ", ".join(map(repr, others[:USERS_NAMED])) + (
        ", …" if len(others) > USERS_NAMED else ""
    )
    raise InvalidInput(
        f"{memory.path} knows no user {user_id!r}. Name another with --user; it knows {named}."
    )


async def whole(memory: Memory, user_id: str, table: Table, given: Given) -> Given:
    """Whole ids in the place of their beginnings.

    Raises:
        InvalidInput: If several ids begin so.
    """
    user = await memory.runtime.storage.database.read(queries.users.find, user_id)
    if user is None:
        return given
    if isinstance(given, str):
        return await memory.runtime.storage.database.read(queries.ids.whole, user, table, given)
    return [
        await memory.runtime.storage.database.read(queries.ids.whole, user, table, one)
        for one in given
    ]


def with_memory(
    path: Path, run: Callable[[Memory], Awaitable[None]], *, user: str | None = None
) -> None:
    """Opens the memory file for one command.

    Args:
        path: The file.
        run: The command.
        user: Of whom something must be known; None for no one.

    Raises:
        InvalidInput: If nothing is known of the user.
    """

    async def opened() -> None:
        async with Memory.open(path, Settings().options()) as memory:
            if user is not None:
                await checked_user(memory, user)
            with acting(Actor.COMMAND_LINE):
                await run(memory)

    asyncio.run(opened())
