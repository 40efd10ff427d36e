"""`hotmem eval`: which settings would have served a user's bot better?"""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from hotmem.cli import console
from hotmem.cli.console import Database, Overwrite, User
from hotmem.core.encryption_key import EncryptionKey
from hotmem.core.output_files import new_file
from hotmem.errors import InvalidInput
from hotmem.models import load_language
from hotmem.replay.recording import read_recording
from hotmem.replay.replaying import work
from hotmem.replay.sampling import sampled
from hotmem.replay.settings import settings
from hotmem.replay.study import Study, study
from hotmem.replay.table import tabled
from hotmem.replay.wording import cautions, conclusion, reasons
from hotmem.settings import Settings


def evaluate(
    user: User,
    database: Database = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--setting",
            "-s",
            help="What to compare with the present settings, such as HOTMEM_MAX_CONTEXT_TOKENS=500; several times for several settings. "
            "Beside the HOTMEM_ variables of what a block holds: weights=start, weights=1,0.8,0.6,0.4, layers=facts,sessions. "
            "(default: other budgets, a higher threshold, the facts layer alone, the start weights)",
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Also write a page with plots: one HTML file that loads nothing."),
    ] = None,
    overwrite: Overwrite = False,
    questions: Annotated[
        int, typer.Option(help="Questions replayed at most, evenly by chance.", min=1, max=10_000)
    ] = 200,
    turns: Annotated[
        int, typer.Option(help="Turns remembered anew at most, the latest.", min=2, max=1_000_000)
    ] = 5_000,
) -> None:
    """Replays your own conversations offline and tells which settings would have served you better.

    Every question is asked again as of the moment it was asked, under each setting, and the reply
    that your bot really gave judges what each setting found: what the reply used was worth giving,
    the rest cost tokens for nothing. Your memory file is only read; nothing leaves this machine.
    With the limits as they are it takes some minutes.
    """
    rendered = None if report is None else _renderer()
    if report is not None and not report.absolute().parent.is_dir():
        raise InvalidInput(
            f"The folder of {report} is not there. Make it, or name a file in one that is."
        )
    if report is not None and not overwrite and os.path.lexists(report):
        raise InvalidInput(f"{report} exists. Name a file that does not, or give --overwrite.")
    path = console.existing(database)
    recording = read_recording(
        path, user, turns, EncryptionKey.from_source(Settings().options().key)
    )
    compared = settings(setting or (), recording.weights)
    if len(compared) < 2:
        raise InvalidInput(
            "The settings to compare are those you have. Name others with --setting, such as HOTMEM_MAX_CONTEXT_TOKENS=500."
        )
    language = load_language()
    exchanges = sampled(recording, language, questions)
    with console.progress() as progress:
        bar = progress.add_task("replaying", total=work(recording, exchanges, compared))
        found = asyncio.run(
            study(recording, exchanges, compared, language, lambda: progress.advance(bar))
        )
    _show(found)
    if report is not None and rendered is not None:
        with new_file(report, overwrite=overwrite) as making:
            making.write_text(rendered(found), "utf-8")
        console.screen.print(f"The report is in {report}", soft_wrap=True)


def _renderer() -> Callable[[Study], str]:
    """The maker of pages, looked for before the work begins."""
    try:
        from hotmem.replay.report import rendered
    except ImportError as error:
        raise InvalidInput(
            'The report needs a plotting library. Run: pip install "pipecat-hotmem[report]"'
        ) from error
    return rendered


def _show(found: Study) -> None:
    screen = console.screen
    screen.print(tabled(found.comparison))
    screen.print(Text(conclusion(found.comparison), style="bold"))
    for sentence in (*reasons(found.comparison), *cautions(found)):
        screen.print(sentence)
