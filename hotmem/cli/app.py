"""The `hotmem` command: registers all commands and prints errors.

Importing this module is fast; commands import what they need when they run.
"""

import re
import sys
from collections.abc import Callable
from copy import copy
from inspect import getdoc, isfunction, signature
from types import ModuleType
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


def commands_of(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """Return the commands of a module by name: its public functions, in order."""
    return {
        name.strip("_").replace("_", "-"): command
        for name, command in vars(module).items()
        if isfunction(command) and command.__module__ == module.__name__ and name[0] != "_"
    }


PANELS: Final = {
    "Browse": commands_of(browse),
    "Search": commands_of(search),
    "Edit": commands_of(edit),
    "Evaluate": commands_of(evaluate),
    "Export, import and backup": commands_of(files),
    "Maintenance and privacy": commands_of(maintenance),
    "Integration and deployment": commands_of(serve),
}
"""Commands by help panel; each has a module."""


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
    command.__signature__ = declared.replace(parameters=parameters)  # type: ignore[attr-defined]  # typer reads it
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
