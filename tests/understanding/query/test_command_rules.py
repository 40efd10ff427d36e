"""Voice commands, and utterances that only sound alike."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hotmem.understanding.query.command_rules import find_command
from hotmem.understanding.query.commands import Command, CommandKind
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)


@scored(("said", "command"), CASES["command_is_detected"])
def test_command_is_detected(said: str, command: list[Any]) -> None:
    kind, *about = command
    assert find_command(said) == Command(CommandKind(kind), *about)


@scored("said", CASES["similar_utterances_are_not_commands"], floor=1.0)
def test_similar_utterances_are_not_commands(said: str) -> None:
    assert find_command(said) is None


@given(st.text(max_size=200))
def test_any_text_is_accepted(said: str) -> None:
    found = find_command(said)
    assert found is None or (found.kind is CommandKind.FORGET_ABOUT) is bool(found.about)
