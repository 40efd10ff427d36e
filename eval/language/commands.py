"""Voice commands and look-alikes: which command is found in what people say.

`commands.tsv` has one utterance a line: style, text, and the command that is meant. The rules were
written with its lines of odd number in view; those of even number are unseen.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table

from eval.arguments import AsJson, print_json
from eval.statistics import bootstrap
from hotmem.understanding.query.voice_commands import CommandKind, find_command

CASES: Final = Path(__file__).parents[1] / "data" / "understanding" / "unseen" / "commands.tsv"

NONE: Final = "none"
NAMES: Final = {
    "remember-this": {CommandKind.REMEMBER},
    "forget-last": {CommandKind.FORGET_LAST, CommandKind.SKIP_LAST, CommandKind.SKIP_TURN},
    "forget-about": {CommandKind.FORGET_ABOUT},
    "forget-all": {CommandKind.FORGET_ALL},
    "undo": {CommandKind.UNDO},
    "dont-save": {CommandKind.FORGET_LAST, CommandKind.SKIP_LAST, CommandKind.SKIP_TURN},
    "what-do-you-know": {CommandKind.LIST_ALL},
    "how-do-you-know": {CommandKind.EXPLAIN_SOURCE},
    "off-record": {CommandKind.OFF_RECORD},
    "on-record": {CommandKind.ON_RECORD},
}
"""Commands of the file, and the kinds that do what is meant."""

_DETERMINERS: Final = frozenset({"my", "our", "the"})


@dataclass(frozen=True, slots=True)
class Heard:
    """An utterance and what was found in it.

    Attributes:
        seen: Whether the rules were written with it in view.
        clean: Whether it is as written, not as a recogniser gives it.
        text: The utterance.
        meant: The command that is meant, with its topic; `NONE` for none.
        found: The command that was found.
        right: Whether that is right.
    """

    seen: bool
    clean: bool
    text: str
    meant: str
    found: str
    right: bool


def heard(number: int, style: str, text: str, meant: str) -> Heard:
    """Look for a command in an utterance."""
    command = find_command(text)
    found = NONE if command is None else f"{command.kind} {command.about}".strip()
    name, _, topic = meant.partition(" ")
    if command is None or name == NONE:
        right = command is None and name == NONE
    else:
        right = command.kind in NAMES[name] and _topic(command.about) == _topic(topic)
    return Heard(number % 2 == 0, style == "clean", text, meant, found, right)


def _topic(words: str) -> list[str]:
    return [word for word in words.casefold().split() if word not in _DETERMINERS]


def commands(
    failures: Annotated[bool, typer.Option(help="Print the unseen utterances that fail.")] = False,
    as_json: AsJson = False,
) -> None:
    """Look for voice commands in utterances and look-alikes."""
    lines = CASES.read_text("utf-8").splitlines()
    all_heard = [heard(number, *line.split("\t")) for number, line in enumerate(lines)]
    console = Console(stderr=True)
    table = Table("utterances", "style", "right, seen", "right, unseen (95 %)")
    for none in (False, True):
        for clean in (True, False):
            chosen = [o for o in all_heard if (o.meant == NONE, o.clean) == (none, clean)]
            seen, unseen = ([o.right for o in chosen if o.seen is half] for half in (True, False))
            style = "clean" if clean else "recognised"
            name = "look-alikes" if none else "commands"
            table.add_row(name, style, f"{sum(seen)} of {len(seen)}", _share(unseen))
    console.print(table)
    for one in all_heard:
        if failures and not one.right and not one.seen:
            console.print(f"{one.text} -> {one.found}, not {one.meant}", markup=False)
    print_json([asdict(one) for one in all_heard], as_json)


def _share(right: Sequence[bool]) -> str:
    estimate = bootstrap(right)
    return f"{estimate.mean:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"
