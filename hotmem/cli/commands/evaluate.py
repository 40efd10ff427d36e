"""Commands that measure how useful the memory was to the bot."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.text import Text

from hotmem.cli import console
from hotmem.cli.console import Database, Overwrite, Time, User, check_new
from hotmem.cli.memory_file import (
    encryption_key,
    existing_database_file,
    tool_command,
)
from hotmem.core.output_files import new_file
from hotmem.errors import InvalidInput

COPY_FIRST: Final = "Export the user's memory and import it into a file first."

if TYPE_CHECKING:
    from hotmem.replay.replaying import Study


def eval_(
    user: User,
    database: Database = None,
    setting: Annotated[list[str] | None, typer.Option("--setting", "-s")] = None,
    report: Path | None = None,
    overwrite: Overwrite = False,
    questions: Annotated[int, typer.Option(min=1, max=10_000)] = 200,
    turns: Annotated[int, typer.Option(min=2, max=1_000_000)] = 5_000,
) -> None:
    """Compare settings by replaying your own conversations offline.

    Each recorded question is asked again under each setting, with the memory as it was at that
    time. Items that your bot used in its reply count as useful. The memory file is only
    read, and no data leaves this machine. With the default limits this takes some minutes.

    Options:
        setting: Setting to compare with the present ones, such as HOTMEM_MAX_CONTEXT_TOKENS=500;
            repeatable. Besides the HOTMEM_ variables that affect a context block: weights=start,
            weights=1,0.8,0.6,0.4, layers=facts,sessions. (default: other budgets, a higher
            threshold, only the facts layer, and the initial weights)
        report: Also write a report with plots to this self-contained HTML file.
        questions: Maximum recalls to replay, sampled evenly.
        turns: Maximum turns to store again, latest first.
    """
    from hotmem.models import load_language
    from hotmem.replay.comparison import sample_exchanges
    from hotmem.replay.recording import read_recording
    from hotmem.replay.replaying import run_study, total_steps
    from hotmem.replay.settings import settings

    render = None if report is None else _report_renderer()
    if report is not None and not report.absolute().parent.is_dir():
        raise InvalidInput(f"The folder of {report} does not exist. Create it, or name another.")
    if report is not None:
        check_new(report, overwrite=overwrite)
    recording = read_recording(
        existing_database_file(database, COPY_FIRST), user, turns, encryption_key()
    )
    compared = settings(setting or (), recording.weights)
    if len(compared) < 2:
        raise InvalidInput(
            "The settings to compare equal the present ones. Name others with --setting, such as "
            "HOTMEM_MAX_CONTEXT_TOKENS=500."
        )
    language = load_language()
    exchanges = sample_exchanges(recording, language, questions)
    with console.progress_bar() as progress:
        bar = progress.add_task("replaying", total=total_steps(recording, exchanges, compared))
        result = asyncio.run(
            run_study(recording, exchanges, compared, language, lambda: progress.advance(bar))
        )
    _print(result)
    if report is not None and render is not None:
        with new_file(report, overwrite=overwrite) as temporary:
            temporary.write_text(render(result), "utf-8")
        console.print_line(f"report written to {report}")


@tool_command("memory_quality")
def quality(days: int = 30) -> None:
    """Show how much of the context blocks the replies used, by layer, intent and day.

    The figures are stored with each reply: durations, and the items given and used. Cache hits are
    not stored; a running bot counts them as OpenTelemetry metrics.

    Options:
        days: Days to include, up to today.
    """


@tool_command("usage_patterns")
def usage(after: Time = None, before: Time = None, timezone: str = "UTC", limit: int = 10) -> None:
    """Show when the memory is queried, which memories replies use, and which are never used.

    Options:
        after: From this date or time, such as 2026-03-01 or 2026-03-01T18:30.
        before: Before this date or time.
        timezone: Time zone of hours and weekdays, such as Europe/Lisbon.
        limit: Maximum tags, names, memories and sessions, 1 to 100.
    """


def _report_renderer() -> Callable[["Study"], str]:
    """Return the renderer of reports; called first so that a missing package is reported early."""
    with console.requires_extra("report", "packages of the report"):
        from hotmem.replay.report import render_report
    return render_report


def _print(result: "Study") -> None:
    from hotmem.replay.report import cautions, comparison_table, conclusion, reasons

    console.screen.print(comparison_table(result.comparison))
    console.screen.print(Text(conclusion(result.comparison), style="bold"))
    for sentence in (*reasons(result.comparison), *cautions(result)):
        console.screen.print(sentence)
