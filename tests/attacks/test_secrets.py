"""Secrets: which statements hold one, and which questions get one."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hotmem import Memory, Role, Turn
from hotmem.pipecat.voice_commands import stored_facts
from hotmem.understanding.private_statements import is_private
from tests.scored import scored
from tests.tables import attack_cases

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
QUESTIONS = [
    (scene, question) for scene in attack_cases("secret_scenes") for question in scene["questions"]
]


@scored("case", [one for one in attack_cases("secret_statements") if one["secret"]], floor=0.83)
def test_a_secret_is_recognised(case: dict[str, Any]) -> None:
    assert is_private(case["text"])


@scored("case", [one for one in attack_cases("secret_statements") if not one["secret"]], floor=0.9)
def test_an_open_statement_is_none(case: dict[str, Any]) -> None:
    assert not is_private(case["text"])


async def given(memory: Memory, scene: dict[str, Any], question: str) -> set[int]:
    """Places of the statements of a scene that a block for a question has."""
    places = {}
    for place, text in enumerate(scene["told"]):
        at = START + timedelta(minutes=place)
        turn = Turn(scene["told"][0], "told", Role.USER, text, at, id=f"{scene['told'][0]} {place}")
        places[turn.id] = place
        await memory.remember(turn)
    await memory.settle()
    asked = {"user_id": scene["told"][0], "session_id": "now", "at": START + timedelta(days=1)}
    block = await memory.recall(question, **asked)
    return {places[turn] for item in block.items for turn in item.turn_ids if turn in places}


def secrets(scene: dict[str, Any]) -> set[int]:
    return {one["asks"] for one in scene["questions"]} - {None}


@scored(("scene", "question"), [one for one in QUESTIONS if one[1]["asks"] is None], floor=0.85)
async def test_a_question_for_something_else_gets_no_secret(
    scene: dict[str, Any], question: dict[str, Any], memory: Memory
) -> None:
    assert not await given(memory, scene, question["text"]) & secrets(scene)


@scored(("scene", "question"), [one for one in QUESTIONS if one[1]["asks"] is not None], floor=0.7)
async def test_a_question_for_a_secret_gets_it(
    scene: dict[str, Any], question: dict[str, Any], memory: Memory
) -> None:
    assert question["asks"] in await given(memory, scene, question["text"])


async def test_a_new_secret_inherits_no_relevance(memory: Memory) -> None:
    told = ["We are flying to Porto in August.", "I just changed my password to Harbour77."]
    assert await given(memory, {"told": told}, "Where are we flying in August?") == {0}


def test_a_code_is_known_by_its_form_and_a_surprised_person_has_no_secret() -> None:
    assert is_private("The gate code is 4417.") and is_private("I changed the code to 4417.")
    assert not is_private("I was surprised by the weather in Leeds.")


async def test_a_secret_puts_nothing_open_in_doubt(memory: Memory) -> None:
    told = ["We are flying to Porto in August.", "I just changed my password to Harbour77."]
    await given(memory, {"told": told}, "Hello.")
    known = await memory.memories(told[0])
    assert not [(one.text, one.doubted_by) for one in known if one.doubted_at]


@scored(("told", "secret"), attack_cases("told_secrets"), floor=1.0)
async def test_a_secret_is_in_no_summary_opening_or_list(
    told: str, secret: str, memory: Memory
) -> None:
    for minute, text in enumerate((told, "I met Paul for lunch at the museum of modern art.")):
        at = START + timedelta(minutes=minute)
        await memory.remember(Turn(told, "told", Role.USER, text, at))
    await memory.end_session(user_id=told, session_id="told")
    await memory.settle()
    overview = await memory.recall("What did we talk about last time?", user_id=told, at=at)
    opening = await memory.opening(user_id=told, at=at)
    known = stored_facts(await memory.memories(told), 1_000, len)
    assert not [text for text in (overview.text, opening.text, known) if secret in text]
