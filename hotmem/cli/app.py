"""The `hotmem` command.

Look into a memory file, compare settings over it, move sessions in and out, forget.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer
from loguru import logger
from rich.table import Table
from rich.text import Text

from hotmem import Memory, __version__
from hotmem.cli import console
from hotmem.cli.audit import audit
from hotmem.cli.commands import register
from hotmem.cli.console import Database, User
from hotmem.cli.doctor import doctor
from hotmem.cli.encryption import decrypt, encrypt, rekey
from hotmem.cli.models import prepare_models
from hotmem.cli.retention import retain
from hotmem.cli.tables import id_column
from hotmem.cli.worker import worker
from hotmem.errors import HotMemError, InvalidInput
from hotmem.replay.command import evaluate
from hotmem.settings import Settings
from hotmem.storage.queries.ids import short

HELP = """The long-term memory of voice bots, from the command line.

Start with `hotmem inspect --user NAME`: a page that shows what is remembered of a user, where it comes from, and what your bot made of it.
Every command explains itself: `hotmem search --help`.
"""

app = typer.Typer(help=HELP, no_args_is_help=True, pretty_exceptions_enable=False)


def _show_version(wanted: bool) -> None:
    if wanted:
        console.screen.print(f"hotmem {__version__}")
        raise typer.Exit


@app.callback()
def shared(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Options of the command itself."""


register(app)
app.command("eval", rich_help_panel="See whether it helps")(evaluate)
for of_file in (doctor, worker, audit, retain, encrypt, decrypt, rekey):
    app.command(rich_help_panel="The file")(of_file)
app.command("prepare", rich_help_panel="Models")(prepare_models)


@app.command(rich_help_panel="Ask")
def recall(
    question: Annotated[str, typer.Argument(help="What the user asks the bot.")],
    user: User,
    database: Database = None,
    tokens: Annotated[int, typer.Option(help="Tokens at most.", min=1)] = 1000,
) -> None:
    """Shows the context block that a bot would be given for a question."""

    async def run(memory: Memory) -> None:
        block = await memory.recall(question, user_id=user, max_tokens=tokens)
        console.screen.print(
            block.text or block.trace.reason, style=None if block.text else "dim", soft_wrap=True
        )

    console.with_memory(console.existing(database), run, user=user)


@app.command(rich_help_panel="Look")
def memories(
    user: User,
    database: Database = None,
    past: Annotated[bool, typer.Option(help="Also what is no longer true.")] = False,
) -> None:
    """Lists what is known of a user."""

    async def run(memory: Memory) -> None:
        table = Table(id_column(), "memory", "kind", "said", "until")
        for known in await memory.memories(user, past=past):
            until = known.valid_until.date().isoformat() if known.valid_until else ""
            table.add_row(
                short(known.id), known.text, known.kind, known.said_at.date().isoformat(), until
            )
        console.screen.print(
            table
            if table.row_count
            else f"no statement is known of {user}; `hotmem stats` counts what was said"
        )

    console.with_memory(console.existing(database), run, user=user)


@app.command(rich_help_panel="Add and change")
def forget(
    user: User,
    database: Database = None,
    entity: Annotated[str | None, typer.Option(help="A name: all that mentions it.")] = None,
    session: Annotated[
        str | None, typer.Option(help="The id of a conversation: all that was said in it.")
    ] = None,
    memory_id: Annotated[
        str | None,
        typer.Option(help="A memory's id or its beginning: with it go the turns it was read from."),
    ] = None,
    everything: Annotated[bool, typer.Option(help="All that is remembered of the user.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only says how much would go.")
    ] = False,
) -> None:
    """Removes one thing everywhere, at once and for good, and says what went and whether copies are left."""
    if sum(map(bool, (entity, session, memory_id, everything))) != 1:
        raise InvalidInput(
            "Say what to forget by exactly one of --entity, --session, --memory-id and --everything."
        )

    async def run(memory: Memory) -> None:
        which = (
            None if memory_id is None else await console.whole(memory, user, "memories", memory_id)
        )
        gone = await memory.forget(
            user_id=user,
            entity=entity,
            session_id=session,
            memory_id=which,
            everything=everything,
            dry_run=dry_run,
        )
        if which is not None and not gone.memories:
            raise InvalidInput(
                f"{memory_id!r} is not among this user's memories. `hotmem memories` shows their ids."
            )
        if session is not None and not gone.sessions:
            raise InvalidInput(
                f"{session!r} is no conversation of this user. `hotmem contextual` shows the ids of conversations."
            )
        if entity is not None and not (gone.turns or gone.memories):
            console.screen.print(f"nothing that was said or is known mentions {entity!r}")
            return
        console.screen.print(f"{gone.summary()} would be forgotten" if dry_run else str(gone))

    console.with_memory(console.existing(database), run, user=user)


@app.command(rich_help_panel="Look")
def inspect(
    user: User,
    file: Annotated[
        Path | None, typer.Argument(help="The memory file. (default: HOTMEM_DATABASE, memory.db)")
    ] = None,
    database: Database = None,
    port: Annotated[
        int,
        typer.Option(
            help="A port of this machine; any that is free, if left out.", min=0, max=65535
        ),
    ] = 0,
) -> None:
    """Serves a page on this machine that shows what is remembered and why, and where it can be changed and forgotten."""
    if file is not None and database is not None:
        raise InvalidInput(
            "The memory file is named twice. Name it once, with --database or without."
        )
    try:
        from hotmem.inspector.server import serve
    except ImportError as error:
        raise InvalidInput(
            'The page\'s packages are not installed. Run: pip install "pipecat-hotmem[inspect]"'
        ) from error

    console.with_memory(
        console.existing(file or database),
        lambda memory: serve(memory, user, port, Settings().time_zone),
        user=user,
    )


def main() -> None:
    """Runs the command line; HotMem's own errors become one line and exit code 1."""
    logger.remove()
    logger.add(sys.stderr, level="WARNING", format="{level}: {message}")
    try:
        app()
    except HotMemError as error:
        told = Text.assemble((type(error).__name__, "red"), f": {error}")
        console.console(stderr=True).print(told, soft_wrap=True)
        raise SystemExit(1) from error


if __name__ == "__main__":
    main()
