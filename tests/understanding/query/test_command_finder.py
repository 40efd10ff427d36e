"""Voice commands found by the rules and the trained model together."""

import threading
from collections.abc import Sequence

import numpy as np
import pytest

from hotmem.errors import ModelMissing
from hotmem.models import Encoder, load_encoder
from hotmem.models.encoder import Vectors
from hotmem.options import ModelOptions
from hotmem.understanding.query import commands
from hotmem.understanding.query.command_finder import CommandFinder, decide
from hotmem.understanding.query.command_rules import find_command, find_topic
from hotmem.understanding.query.commands import Command, CommandKind, CommandModel, term_ids
from tests.logs import captured_logs
from tests.scored import scored
from tests.tables import attack_cases, tables

CASES = tables(__file__)


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return load_encoder(ModelOptions())


@pytest.fixture(scope="module")
def find(encoder: Encoder) -> CommandFinder:
    return CommandFinder(lambda: encoder)


@scored(
    ("said", "kind"),
    [
        ("no forget i said that", CommandKind.FORGET_LAST),
        ("um so could you kind of erase the bit i just told you", CommandKind.FORGET_LAST),
        ("alright memory off for a while", CommandKind.OFF_RECORD),
        ("um what have you got stored about me", CommandKind.LIST_ALL),
        ("hang on how did you find that out", CommandKind.EXPLAIN_SOURCE),
        ("alright keep that in mind please", CommandKind.REMEMBER),
    ],
    floor=1.0,
)
def test_commands_that_the_rules_do_not_find(
    said: str, kind: CommandKind, find: CommandFinder
) -> None:
    found = find(said)
    assert found is not None
    assert found.kind is kind or {found.kind, kind} <= {
        CommandKind.FORGET_LAST,
        CommandKind.SKIP_LAST,
    }


@scored("said", CASES["look_alikes"], floor=1.0)
def test_look_alikes(said: str, find: CommandFinder) -> None:
    assert find(said) is None


def test_topic_of_a_request_that_only_the_model_finds(find: CommandFinder) -> None:
    assert find("alright purge anything relating to Kestrel Yard") == Command(
        CommandKind.FORGET_ABOUT, "Kestrel Yard"
    )
    assert find_topic("Never mind.") == ""


@scored("opening", ["Forget", "Please forget", "Actually, can you forget"], floor=1.0)
def test_a_request_to_forget_a_statement_is_none_to_remember_it(
    opening: str, find: CommandFinder
) -> None:
    said = f"{opening} that I am allergic to hazelnuts."
    assert find(said) == Command(CommandKind.FORGET_FACT, "I am allergic to hazelnuts")
    assert find("Don't forget that I am allergic to hazelnuts.") == Command(CommandKind.REMEMBER)


def test_without_the_encoder_of_the_model_the_rules_decide(encoder: Encoder) -> None:
    class Other:
        name = "other"
        dimension = encoder.dimension

        def encode(self, texts: Sequence[str]) -> Vectors:
            raise AssertionError("not asked")

    said = "alright memory off for a while"
    other = Other()
    assert CommandFinder(lambda: None)(said) == find_command(said)
    assert CommandFinder(lambda: other)(said) == find_command(said)


def test_without_weights_the_rules_decide(encoder: Encoder) -> None:
    def missing() -> CommandModel:
        raise ModelMissing("commands-2.npz is missing")

    said = "Forget that."
    assert CommandFinder(lambda: encoder, missing)(said) == find_command(said)


def test_without_a_cue_nothing_is_encoded() -> None:
    def no_encoder() -> Encoder:
        class Never:
            name = "turns-1-int8"
            dimension = 384

            def encode(self, texts: Sequence[str]) -> Vectors:
                raise AssertionError("encoded")

        return Never()

    assert CommandFinder(no_encoder)("we had soup with green beans") is None


def test_an_utterance_is_looked_at_once(encoder: Encoder) -> None:
    asked = []

    def counted() -> Encoder:
        asked.append(1)
        return encoder

    find = CommandFinder(counted)
    said = "alright memory off for a while"
    assert find(said) == find(said) and len(asked) == 1
    assert find("Forget that.") and find(said) and len(asked) >= 2


async def test_a_prepared_utterance_is_looked_at_in_another_thread(encoder: Encoder) -> None:
    threads = []

    def recorded() -> Encoder:
        threads.append(threading.get_ident())
        return encoder

    find = CommandFinder(recorded)
    said = "alright memory off for a while"
    await find.prepare(said, "", said)
    assert find(said) == Command(CommandKind.OFF_RECORD)
    assert len(threads) == 1 and threading.get_ident() not in threads
    await find.prepare(said)
    assert len(threads) == 1


def test_an_encoder_that_comes_later_is_asked(encoder: Encoder) -> None:
    encoders: list[Encoder | None] = [None, encoder]
    find = CommandFinder(lambda: encoders.pop(0))
    said = "alright memory off for a while"
    assert find(said) is None and find(said) is not None


def test_a_failing_encoder_leaves_it_to_the_rules() -> None:
    def failing() -> Encoder:
        raise OSError("peanuts")

    for said in ("Forget that.", "alright memory off for a while"):
        with captured_logs() as logs:
            assert CommandFinder(failing)(said) == find_command(said)
        assert "OSError" in str(logs) and "peanuts" not in str(logs)


def test_decisions_between_rules_and_model() -> None:
    def decided(said: str, ruled: Command | None, **chances: float) -> Command | None:
        of = dict.fromkeys(commands.CLASSES, 0.0) | {None: 1 - sum(chances.values())}
        of.update((CommandKind[name], chance) for name, chance in chances.items())
        return decide(said, ruled, of)

    skip = Command(CommandKind.SKIP_TURN)
    said = "Don't keep this."
    assert decided(said, None, UNDO=0.6) is None
    assert decided(said, None, UNDO=0.9) == Command(CommandKind.UNDO)
    assert decided(said, None, SKIP_TURN=0.2, OFF_RECORD=0.15) == skip
    assert decided(said, None, SKIP_TURN=0.2) is None
    assert decided(said, skip, OFF_RECORD=0.6) is skip
    assert decided(said, skip, FORGET_ALL=0.1) is skip
    assert decided(said, skip, FORGET_ALL=0.01) is None
    assert decided("Forget it.", None, FORGET_ABOUT=0.9) is None
    assert decided("Don't forget my insulin.", None, FORGET_ABOUT=0.9) is None
    assert decided("Forget that I love nuts.", None, REMEMBER=0.9) is None
    forgotten = decided("Forget everything about me.", None, FORGET_ABOUT=0.5, FORGET_ALL=0.4)
    assert forgotten == Command(CommandKind.FORGET_ALL)


def test_terms_are_words_in_a_row() -> None:
    few, more = term_ids("forget that"), term_ids("Um, forget that, please!")
    assert len(few) == 4 + 3 + 2
    assert np.isin(term_ids("forget that")[:1], few).all() and len(more) > len(few)


@scored(
    "case", [case for case in attack_cases("requests") if case["target"] != "everything"], floor=1.0
)
def test_a_request_about_something_is_not_about_everything(
    case: dict[str, str], find: CommandFinder
) -> None:
    assert getattr(find(case["text"]), "kind", None) is not CommandKind.FORGET_ALL


@scored(
    "case",
    [case for case in attack_cases("requests") if case["target"] == "everything"],
    floor=0.57,
)
def test_a_request_about_everything_is(case: dict[str, str], find: CommandFinder) -> None:
    assert find(case["text"]) == Command(CommandKind.FORGET_ALL)
