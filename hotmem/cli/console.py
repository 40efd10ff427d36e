"""Terminal output of the commands: the screen and progress bars."""

import sys
from collections.abc import Callable, Iterable
from typing import Final

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

from hotmem.text.escaping import escape_for_display, format_json


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


def stage_counter(progress: Progress) -> Callable[[str, int], None]:
    """Return a callback for the stage and the number of records done; one bar per stage."""
    bars: dict[str, TaskID] = {}

    def update(stage: str, done: int) -> None:
        if stage not in bars:
            bars[stage] = progress.add_task(stage, total=None)
        progress.update(bars[stage], completed=done)

    return update
