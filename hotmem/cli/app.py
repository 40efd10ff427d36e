"""The `hotmem` command: registers all commands and prints errors.

Importing this module is fast; commands import what they need when they run.
"""

import re
import sys
from collections.abc import Callable
from copy import copy
from inspect import getdoc, signature
from typing import Annotated, Any, Final, get_args, get_origin

import typer
from loguru import logger
from rich.text import Text

from hotmem import __version__
from hotmem.cli import console
from hotmem.cli.commands import browse, edit, evaluate, files, maintenance, search, serve
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
        "inspect": browse.inspect,
        "users": browse.users,
        "memories": browse.memories,
        "stats": browse.stats,
        "timeline": browse.timeline,
        "network": browse.network,
        "subcategories": browse.subcategories,
        "decisions": browse.decisions,
    },
    "Search": {
        "recall": search.recall,
        "search": search.search,
        "contextual": search.contextual,
        "trace": search.trace,
    },
    "Edit": {
        "store": edit.store,
        "edit": edit.edit,
        "merge": edit.merge,
        "forget": edit.forget,
        "undo": edit.undo,
        "optimize-tags": edit.optimize_tags,
        "evolve": edit.evolve,
        "edit-subcategory": edit.edit_subcategory,
    },
    "Evaluate": {"eval": evaluate.evaluate, "quality": evaluate.quality, "usage": evaluate.usage},
    "Export, import and backup": {
        "export": files.export,
        "import": files.import_,
        "backup": files.backup,
        "restore": files.restore,
        "copy": maintenance.copy,
    },
    "Maintenance and privacy": {
        "doctor": maintenance.doctor,
        "validate": files.validate,
        "repair": files.repair,
        "language": maintenance.language,
        "audit": maintenance.audit,
        "retain": maintenance.retain,
        "encrypt": maintenance.encrypt,
        "decrypt": maintenance.decrypt,
        "rekey": maintenance.rekey,
    },
    "Integration and deployment": {
        "serve-mcp": serve.serve_mcp,
        "discover": serve.discover,
        "migrate": maintenance.migrate,
        "worker": serve.worker,
    },
}
"""Commands by help panel."""


def unwrap(text: str) -> str:
    """Join the lines of each paragraph, so that the terminal wraps them."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def documented(command: Callable[..., Any]) -> str:
    """Give each option of a command its help from the docstring, and return the command's help."""
    text, _, options = (getdoc(command) or "").partition("\n\nOptions:\n")
    helps = dict(re.findall(r"^    (\w+): (.+(?:\n {8}.+)*)", options, re.MULTILINE))
    declared = signature(command)
    parameters = []
    for one in declared.parameters.values():
        annotated = get_origin(one.annotation) is Annotated
        kind, *given = get_args(one.annotation) if annotated else (one.annotation,)
        plain = typer.Argument() if one.default is one.empty else typer.Option()
        info = copy(given[0] if given else plain)
        info.help = unwrap(helps[one.name]) if one.name in helps else info.help
        parameters.append(one.replace(annotation=Annotated[kind, info]))
    command.__signature__ = declared.replace(parameters=parameters)  # type: ignore[attr-defined]
    return unwrap(text)


app = typer.Typer(help=unwrap(HELP), no_args_is_help=True, pretty_exceptions_enable=False)

for panel, commands in PANELS.items():
    for name, command in commands.items():
        app.command(name, help=documented(command), rich_help_panel=panel)(command)


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
