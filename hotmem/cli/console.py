"""Terminal output of the commands: the screen and progress bars."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Annotated, Final

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

from hotmem.errors import InvalidInput
from hotmem.settings import Settings
from hotmem.text.escaping import escape_for_display, format_json
from hotmem.types import Category, Kind


class _SafeConsole(Console):
    """A console on which text cannot move the cursor, set colours or change the direction."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else escape_for_display(text), style, control)


def make_console(*, stderr: bool = False, width: int | None = None) -> Console:
    """Return a console that prints strings literally.

    Memory text is never interpreted as markup or terminal control codes. To style text, print a
    `Text` or pass a style.
    """
    return _SafeConsole(stderr=stderr, width=width, markup=False, highlight=False, emoji=False)


screen = make_console()

PROGRESS_COLUMNS: Final = (
    TextColumn("{task.description}"),
    BarColumn(),
    MofNCompleteColumn(),
    TimeRemainingColumn(),
)


def print_line(text: str, *, style: str | None = None) -> None:
    """Print text on standard output without wrapping it."""
    screen.print(text, style=style, soft_wrap=True)


def print_json(value: object) -> None:
    """Print a value as JSON on standard output."""
    print_line(format_json(value))


def print_note(text: str) -> None:
    """Print text on standard error without wrapping it."""
    make_console(stderr=True).print(text, soft_wrap=True)


def is_terminal() -> bool:
    """Whether a person can be asked: standard input and output are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def progress_bar() -> Progress:
    """Return a progress bar on standard error; standard output contains only the result."""
    return Progress(*PROGRESS_COLUMNS, console=make_console(stderr=True))


def stage_counter(progress: Progress) -> Callable[..., None]:
    """Return a callback for the stage, the number done, and the total if known; a bar per stage."""
    bars: dict[str, TaskID] = {}

    def update(stage: str, done: int, total: int | None = None) -> None:
        if stage not in bars:
            bars[stage] = progress.add_task(stage, total=total)
        progress.update(bars[stage], completed=done)

    return update


@contextmanager
def requires_extra(extra: str, packages: str) -> Iterator[None]:
    """Name the extra to install if an import in the block fails.

    Args:
        extra: The extra of HotMem.
        packages: What it installs, as the message calls it.

    Raises:
        InvalidInput: If the import fails.
    """
    try:
        yield
    except ImportError as error:
        raise InvalidInput(
            f'The {packages} are not installed. Run: pip install "pipecat-hotmem[{extra}]"'
        ) from error


def parse_time(option: typer.CallbackParam, value: str | None) -> str | None:
    """Parse a date or time, by default in the time zone of HOTMEM_TIME_ZONE or of this machine.

    Raises:
        InvalidInput: If the value is neither; the message names the option.
    """
    if value is None:
        return None
    try:
        time = datetime.fromisoformat(value.strip())
        return (time if time.tzinfo else in_zone(time, Settings().time_zone)).isoformat()
    except (ValueError, OverflowError) as error:
        raise InvalidInput(
            f"{option.opts[0]} is {value!r}. Write a date as 2026-03-01, or a time as "
            "2026-03-01T18:30 or 2026-03-01T18:30+01:00."
        ) from error


def check_new(file: Path, *, overwrite: bool) -> None:
    """Check that a file of a command with --overwrite may be written.

    Raises:
        InvalidInput: If it exists and is not to be replaced.
    """
    if not overwrite and os.path.lexists(file):
        raise InvalidInput(f"{file} exists. Name a new file, or pass --overwrite.")


def in_zone(time: datetime, zone: tzinfo | None) -> datetime:
    """Return a naive time with a time zone; None is the zone of this machine."""
    return time.replace(tzinfo=zone) if zone else time.astimezone()


Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        "-d",
        metavar="FILE|URL",
        help="Memory file, or postgresql:// URL. (default: HOTMEM_DATABASE, memory.db)",
    ),
]
User = Annotated[str, typer.Option("--user", "-u", help="User ID, as passed by your bot.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Png = Annotated[
    Path | None,
    typer.Option(help="Draw a plot to this PNG file instead of printing.", dir_okay=False),
]

CategoryOption = Annotated[str | None, typer.Option(help=f"Category: {', '.join(Category)}.")]
KindOption = Annotated[str | None, typer.Option(help=f"Kind of statement: {', '.join(Kind)}.")]
Time = Annotated[str | None, typer.Option(callback=parse_time)]
ContentType = Annotated[
    str | None,
    typer.Option(help=f"Only memories of this kind ({', '.join(Kind)}), or turn, or summary."),
]
