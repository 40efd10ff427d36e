"""What the commands share: the screen, the options that say which memory is meant, and how it is opened."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from hotmem import Memory
from hotmem.errors import InvalidInput
from hotmem.settings import Settings

screen = Console()

Database = Annotated[Path | None, typer.Option("--database", "-d", help="The memory file. (default: HOTMEM_DATABASE, memory.db)")]
User = Annotated[str, typer.Option("--user", "-u", help="Whose memory: the user id that your bot gives.")]

COLUMNS: Final = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())


def progress() -> Progress:
    """A progress bar on standard error, so that standard output holds the answer alone."""
    return Progress(*COLUMNS, console=Console(stderr=True))


def counting(shown: Progress) -> Callable[[str, int], None]:
    """Tells a progress bar what is being done and how many records are; each sort of work has a line of its own."""
    bars: dict[str, TaskID] = {}

    def tell(stage: str, done: int) -> None:
        if stage not in bars:
            bars[stage] = shown.add_task(stage, total=None)
        shown.update(bars[stage], completed=done)

    return tell


def existing(database: Path | None) -> Path:
    """The memory file of a command that makes none."""
    path = database or Settings().database
    if not path.is_file():
        raise InvalidInput(f"{path} is not there. Name a memory file with --database, or set HOTMEM_DATABASE.")
    return path


def with_memory(path: Path, run: Callable[[Memory], Awaitable[None]]) -> None:
    """Opens the memory file for one command."""

    async def opened() -> None:
        async with Memory.open(path, Settings().options()) as memory:
            await run(memory)

    asyncio.run(opened())
