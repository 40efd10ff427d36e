"""Voice commands and look-alikes: which command is found in what people say.

`commands.tsv` has one utterance a line: style, text, and the command that is meant. The rules were
written with its lines of odd number in view; those of even number are unseen. The model that
decides with the rules was trained on neither; see `eval.language.command_training`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from eval.arguments import AsJson
from eval.files import tsv_rows
from eval.output import print_json, print_table, style
from eval.statistics import bootstrap
from hotmem.models import load_encoder
from hotmem.options import ModelOptions
from hotmem.understanding.query.command_finder import CommandFinder
from hotmem.understanding.query.command_rules import find_command
from hotmem.understanding.query.commands import Command, CommandKind

CASES: Final = Path(__file__).parents[1] / "data" / "understanding" / "unseen" / "commands.tsv"

NONE: Final = "none"
NAMES: Final = {
    "remember-this": {CommandKind.REMEMBER},
    "forget-last": {CommandKind.FORGET_LAST, CommandKind.SKIP_LAST, CommandKind.SKIP_TURN},
    "forget-about": {CommandKind.FORGET_ABOUT},
    "forget-all": {CommandKind.FORGET_ALL},
    "undo": {CommandKind.UNDO},
    "skip-last": {CommandKind.FORGET_LAST, CommandKind.SKIP_LAST},
    "skip-turn": {CommandKind.SKIP_TURN, CommandKind.OFF_RECORD},
    "dont-save": {CommandKind.FORGET_LAST, CommandKind.SKIP_LAST, CommandKind.SKIP_TURN},
    "leave-out": {CommandKind.LEAVE_OUT},
    "what-do-you-know": {CommandKind.LIST_ALL},
    "how-do-you-know": {CommandKind.EXPLAIN_SOURCE},
    "off-record": {CommandKind.OFF_RECORD},
    "on-record": {CommandKind.ON_RECORD},
}
"""Commands of the file, and the kinds that do what is meant."""

Finder = Callable[[str], Command | None]

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


def heard(number: int, written: str, text: str, meant: str, find: Finder = find_command) -> Heard:
    """Look for a command in an utterance, by the rules alone unless `find` is given."""
    command = find(text)
    found = NONE if command is None else f"{command.kind} {command.about}".strip()
    name, _, topic = meant.partition(" ")
    if command is None or name == NONE:
        right = command is None and name == NONE
    else:
        right = command.kind in NAMES[name] and _topic(command.about) == _topic(topic)
    return Heard(number % 2 == 0, written == "clean", text, meant, found, right)


def _topic(words: str) -> list[str]:
    return [word for word in words.casefold().split() if word not in _DETERMINERS]


def commands(
    file: Annotated[Path, typer.Option(help="The utterances.", exists=True)] = CASES,
    failures: Annotated[bool, typer.Option(help="Print the unseen utterances that fail.")] = False,
    rules: Annotated[bool, typer.Option(help="Use the rules alone, without the model.")] = False,
    as_json: AsJson = False,
) -> None:
    """Look for voice commands in utterances and look-alikes."""
    encoder = None if rules else load_encoder(ModelOptions())
    find = CommandFinder(lambda: encoder)
    all_heard = [
        heard(number, written, text, meant, find)
        for number, (written, text, meant) in enumerate(tsv_rows(file))
    ]
    for seen in (True, False):
        show([o for o in all_heard if o.seen is seen], "seen" if seen else "unseen")
    for one in all_heard:
        if failures and not one.right and not one.seen:
            print(f"{one.text} -> {one.found}, not {one.meant}")
    print_json(all_heard, as_json)


def show(all_heard: Sequence[Heard], title: str) -> None:
    """Print the shares that are right, for commands and look-alikes in each style."""
    rows = []
    for none in (False, True):
        for clean in (True, False):
            right = [o.right for o in all_heard if (o.meant == NONE, o.clean) == (none, clean)]
            if right:
                kind = "look-alikes" if none else "commands"
                rows.append((kind, style(clean=clean), len(right), bootstrap(right)))
    print_table(title, ("utterances", "style", "count", "right"), rows)
