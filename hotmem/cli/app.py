"""The `hotmem` command: registers all commands and prints errors.

Importing this module is fast; commands import what they need when they run.
"""

import sys
from collections.abc import Callable
from typing import Annotated, Any, Final

import typer
from loguru import logger
from rich.text import Text

from hotmem import __version__
from hotmem.cli import console
from hotmem.cli.commands.browse import (
    decisions,
    inspect,
    memories,
    network,
    stats,
    subcategories,
    timeline,
    users,
)
from hotmem.cli.commands.edit import (
    edit,
    edit_subcategory,
    evolve,
    forget,
    merge,
    optimize_tags,
    store,
    undo,
)
from hotmem.cli.commands.evaluate import evaluate, quality, usage
from hotmem.cli.commands.files import backup, export, import_, repair, restore, validate
from hotmem.cli.commands.maintenance import (
    audit,
    copy,
    decrypt,
    doctor,
    encrypt,
    language,
    migrate,
    rekey,
    retain,
)
from hotmem.cli.commands.search import contextual, recall, search, trace
from hotmem.cli.commands.serve import discover, serve_mcp, worker
from hotmem.errors import HotMemError

HELP: Final = """Inspect, search, edit and maintain the long-term memory of a voice bot.

HotMem stores what users say to your bot, extracts facts from it, and adds what is relevant to the
prompt of the language model. These commands work on its SQLite file or PostgreSQL database.

Start with `hotmem inspect --user USER`: it serves a local web page that shows what is stored about
a user, where it comes from, and how your bot used it. USER is the user ID that your bot passes to
HotMem.

Run `hotmem COMMAND --help` for the options of a command.
"""

PANELS: Final[dict[str, dict[str, Callable[..., Any]]]] = {
    "Browse": {
        "inspect": inspect,
        "users": users,
        "memories": memories,
        "stats": stats,
        "timeline": timeline,
        "network": network,
        "subcategories": subcategories,
        "decisions": decisions,
    },
    "Search": {"recall": recall, "search": search, "contextual": contextual, "trace": trace},
    "Edit": {
        "store": store,
        "edit": edit,
        "merge": merge,
        "forget": forget,
        "undo": undo,
        "optimize-tags": optimize_tags,
        "evolve": evolve,
        "edit-subcategory": edit_subcategory,
    },
    "Evaluate": {"eval": evaluate, "quality": quality, "usage": usage},
    "Export, import and backup": {
        "export": export,
        "import": import_,
        "backup": backup,
        "restore": restore,
        "copy": copy,
    },
    "Maintenance and privacy": {
        "doctor": doctor,
        "validate": validate,
        "repair": repair,
        "language": language,
        "audit": audit,
        "retain": retain,
        "encrypt": encrypt,
        "decrypt": decrypt,
        "rekey": rekey,
    },
    "Integration and deployment": {
        "serve-mcp": serve_mcp,
        "discover": discover,
        "migrate": migrate,
        "worker": worker,
    },
}
"""Commands by help panel."""


def unwrap(text: str) -> str:
    """Join the lines of each paragraph, so that the terminal wraps them."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


app = typer.Typer(help=unwrap(HELP), no_args_is_help=True, pretty_exceptions_enable=False)

for panel, commands in PANELS.items():
    for name, command in commands.items():
        app.command(name, help=unwrap(command.__doc__ or ""), rich_help_panel=panel)(command)


def _print_version(value: bool) -> None:
    if value:
        console.screen.print(f"hotmem {__version__}")
        raise typer.Exit


@app.callback()
def common_options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Options of `hotmem` itself."""


def main() -> None:
    """Run the command line; errors of HotMem are printed in one line with exit code 1."""
    logger.remove()
    logger.add(sys.stderr, level="WARNING", format="{level}: {message}")
    try:
        app()
    except HotMemError as error:
        message = Text.assemble((type(error).__name__, "red"), f": {error}")
        console.make_console(stderr=True).print(message, soft_wrap=True)
        raise SystemExit(1) from error


if __name__ == "__main__":
    main()
