"""Requests to forget: what goes after a plain yes, and what is stored instead."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hotmem import Memory, Role, Turn
from hotmem.models import Encoder, load_encoder
from hotmem.options import ModelOptions
from hotmem.pipecat.voice_commands import CommandRequest, VoiceCommands
from hotmem.understanding.query.command_finder import CommandFinder
from hotmem.understanding.query.command_rules import find_described_deletion
from hotmem.understanding.query.commands import CommandKind
from hotmem.understanding.query.off_record import confirms_deletion
from hotmem.understanding.turn_retention import TurnRetention
from tests.scored import scored
from tests.tables import attack_cases, tables

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
FOUND = tables(__file__, "found_by_attackers")
"""Utterances by what they ask for."""

WRONG = {
    "Remove Rose from your memory.": "deletes what contains the word, and quotes it before",
    "forget everything about my cousin Ned": "deletes his name from a question, too",
    "Could you please delete everything concerning the divorce?": "as above",
    "strike auntie Bea from the record": "as above",
}
"""Requests of the development half after which something else goes, too."""


@pytest.fixture(scope="module")
def encoder_of_turns() -> Encoder:
    return load_encoder(ModelOptions())


async def left(memory: Memory, encoder: Encoder, case: dict[str, Any]) -> tuple[list[str], str]:
    """What is stored after a scene, and the notice to the bot."""
    user, notice = case["request"], ""
    retention = TurnRetention(CommandFinder(lambda: encoder))
    commands = VoiceCommands(user, "talk", retention)
    for number, text in enumerate((*case["told"], case["request"], "Yes, delete it.")):
        at = START + timedelta(minutes=number)
        removed = retention.end_turn(number, text)
        if removed:
            await commands.remove_turns(memory, removed)
        block = None
        if number >= len(case["told"]):
            await memory.settle()
            block = await commands.execute(CommandRequest(memory, text, at, (), 1_000))
        if block is not None and number == len(case["told"]):
            notice = block.text
            commands.add_delivered(block)
            commands.add_reply("Shall I delete it?")
        if retention.stores_turn:
            turn = Turn(user, "talk", Role.USER, retention.restated or text, at)
            await memory.remember(turn)
            retention.add_stored(turn.id)
    exported = [json.loads(line) async for line in memory.export(user)]
    return [record["text"] for record in exported if record["type"] == "turn"], notice


@scored(
    "case",
    [one for one in attack_cases("deletion_scenes") if one["request"] not in WRONG],
    floor=1.0,
)
async def test_nothing_goes_that_was_not_asked_for(
    case: dict[str, Any], memory: Memory, encoder_of_turns: Encoder
) -> None:
    kept, _ = await left(memory, encoder_of_turns, case)
    meant = {case["told"][place] for place in case["gone"]}
    assert set(case["told"]) - meant <= set(kept)


@scored("case", [one for one in attack_cases("deletion_scenes") if one["stored"]], floor=1.0)
async def test_what_holds_instead_is_stored(
    case: dict[str, Any], memory: Memory, encoder_of_turns: Encoder
) -> None:
    kept, _ = await left(memory, encoder_of_turns, case)
    assert any(case["stored"].strip(".").casefold() in text.casefold() for text in kept)


@scored("case", [one for one in attack_cases("deletion_scenes") if one["gone"]], floor=0.35)
async def test_what_was_meant_is_gone(
    case: dict[str, Any], memory: Memory, encoder_of_turns: Encoder
) -> None:
    kept, _ = await left(memory, encoder_of_turns, case)
    assert not {case["told"][place] for place in case["gone"]} & set(kept)


@pytest.mark.parametrize(
    ("request_", "gone"),
    [
        ("Forget everything I told you today.", 3),
        ("Delete this whole conversation.", 3),
        ("Forget everything I told you yesterday.", 0),
    ],
)
async def test_a_period_or_a_conversation_is_not_everything(
    memory: Memory, encoder_of_turns: Encoder, request_: str, gone: int
) -> None:
    told = ["I live in Graz.", "My dog is called Rex.", "I play chess."]
    earlier = Turn(request_, "old", Role.USER, "I work at Siemens.", START - timedelta(days=9))
    await memory.remember(earlier)
    case = {"told": told, "request": request_}
    kept, notice = await left(memory, encoder_of_turns, case)
    assert earlier.text in kept and len(set(told) - set(kept)) == gone, notice


async def test_the_question_names_what_will_go(memory: Memory, encoder_of_turns: Encoder) -> None:
    told = ["Ned plays the trombone.", "Ned is coming for Easter.", "I play chess."]
    case = {"told": told, "request": "Forget everything about Ned."}
    kept, notice = await left(memory, encoder_of_turns, case)
    assert "trombone" in notice and "Easter" in notice and "2 turns" in notice
    assert told[2] in kept and told[0] not in kept


@scored("said", FOUND["no_command"], floor=1.0)
def test_what_attackers_found_is_no_command(said: str, encoder_of_turns: Encoder) -> None:
    command = CommandFinder(lambda: encoder_of_turns)(said)
    assert command is None or command.kind is CommandKind.REMEMBER
    assert find_described_deletion(said) is None


@scored("said", FOUND["about_something"], floor=1.0)
def test_what_names_something_is_not_everything_or_the_last(
    said: str, encoder_of_turns: Encoder
) -> None:
    command = CommandFinder(lambda: encoder_of_turns)(said)
    assert command is not None and command.kind is CommandKind.FORGET_ABOUT
    assert "divorce" not in command.about


@scored("case", [case for case in attack_cases("consent") if not case["yes"]], floor=1.0)
def test_nothing_is_deleted_without_a_clear_yes(case: dict[str, str]) -> None:
    assert not confirms_deletion(case["say"])
