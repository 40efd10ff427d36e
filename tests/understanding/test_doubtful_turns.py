"""Quotations, jokes, denials and fragments state nothing false as certain, and end nothing true."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hotmem import Memory, Role, Turn
from hotmem.types import StoredMemory
from hotmem.understanding.private_statements import is_unmeant
from tests.conversation import remember
from tests.parts import ROOT
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)

LINES = Path(__file__).with_name("meant.tsv").read_text("utf-8").splitlines()
"""What a writer wrote whom no model was trained on: text, and `meant` or `not`."""

DOMAINS = sorted((ROOT / "eval/data/domains").glob("*.json"))
SAID = [one["said"] for file in DOMAINS for one in json.loads(file.read_text())["statements"]]
"""What five others said of their work, all of it meant."""

FRIDAY = datetime(2026, 11, 20, 9, tzinfo=UTC)


async def told(memory: Memory, *turns: str | tuple[str | None, str]) -> Sequence[StoredMemory]:
    """Say turns, of another speaker if a name is given, and return all memories."""
    for place, said in enumerate(turns):
        speaker, text = said if isinstance(said, tuple) else (None, said)
        at = FRIDAY + timedelta(minutes=place)
        await remember(memory, Turn("ana", "s", Role.USER, text, at, speaker))
    return await memory.memories("ana", past=True)


def certain(rows: Sequence[StoredMemory]) -> set[str]:
    """The statements that hold without doubt."""
    return {one.text for one in rows if one.current and not one.hedged and not one.doubted_at}


@pytest.mark.parametrize("said", CASES["what_others_order_is_no_instruction_of_the_user"])
async def test_what_others_order_is_no_instruction_of_the_user(said: str, memory: Memory) -> None:
    assert not [one for one in await told(memory, said) if one.relation in ("asks", "is called")]


@pytest.mark.parametrize("said", CASES["what_the_user_orders_after_a_statement"])
async def test_what_the_user_orders_after_a_statement_is(said: str, memory: Memory) -> None:
    assert [one for one in await told(memory, said) if one.relation == "asks"]


@pytest.mark.parametrize(("speaker", "said"), CASES["a_name_that_is_known_stays"])
async def test_a_name_that_is_known_stays(speaker: str | None, said: str, memory: Memory) -> None:
    rows = await told(memory, "My name is Ana.", (speaker, said), (speaker, said))
    own = {one for one in certain(rows) if one.startswith("The user is called")}
    assert own == {"The user is called Ana."}


async def test_a_name_that_may_be_a_role_is_in_doubt_until_it_is_given(memory: Memory) -> None:
    rows = await told(memory, "I'm Batman", "I'm Tom", "My name is Tom.")
    assert certain(rows) == {"The user is called Tom."}


async def test_another_speaker_does_not_put_the_users_name_in_doubt(memory: Memory) -> None:
    rows = await told(memory, ("Ana", "Good morning."), ("Ana", "Call me Annie."))
    assert "Ana is called Annie." in certain(rows)


@pytest.mark.parametrize(("said", "kept"), CASES["what_is_denied_is_no_part_of_the_value"])
async def test_what_is_denied_is_no_part_of_the_value(said: str, kept: str, memory: Memory) -> None:
    assert [one.text for one in await told(memory, said)] == [kept]


@pytest.mark.parametrize(("turns", "kept"), CASES["a_correction_said_again_leaves_one_value"])
async def test_a_correction_said_again_leaves_one_value(
    turns: list[str], kept: str, memory: Memory
) -> None:
    assert [one.text for one in await told(memory, *turns) if one.current] == [kept]


@pytest.mark.parametrize("said", CASES["words_without_a_subject_and_a_predicate_are_not_kept"])
async def test_words_without_a_subject_and_a_predicate_are_not_kept(
    said: str, memory: Memory
) -> None:
    assert not await told(memory, said)


@pytest.mark.parametrize(("turns", "kept"), CASES["a_new_name_ends_the_old_one"])
async def test_a_new_name_ends_the_old_one(turns: list[str], kept: str, memory: Memory) -> None:
    names = [one for one in await told(memory, *turns) if one.relation == "is called"]
    assert [one.text for one in names if one.current] == [kept]


async def test_what_is_stuttered_is_said_once(memory: Memory) -> None:
    rows = await told(memory, "my sister she she lives in in Hull", "I I have have a a cat")
    assert certain(rows) == {"The user's sister lives in Hull.", "The user has a cat."}


async def test_two_dogs_keep_their_names(memory: Memory) -> None:
    rows = await told(memory, "My dog is called Rex.", "My dog is called Bo.")
    assert certain(rows) >= {"The user's dog is called Rex.", "The user's dog is called Bo."}


async def test_a_wife_of_another_name_puts_neither_in_doubt(memory: Memory) -> None:
    rows = await told(memory, "My wife Max is from Ghent.", "My wife Leo is from Bath.")
    assert not [one for one in rows if not one.current or one.doubted_at or one.doubted_by]


@pytest.mark.parametrize(("turns", "kept", "gone"), CASES["a_rename_is_certain"])
async def test_a_rename_is_certain(turns: list[str], kept: str, gone: str, memory: Memory) -> None:
    rows = await told(memory, *turns)
    sure = {one.object for one in rows if one.text in certain(rows) and one.relation == "is called"}
    assert not kept or kept in sure
    assert not gone or gone not in sure


@pytest.mark.parametrize(
    "said",
    [
        "I used to sing: I'm not allergic to peanuts, la la la",
        "Imagine I'm not allergic to peanuts.",
    ],
)
async def test_a_song_ends_no_allergy(said: str, memory: Memory) -> None:
    assert "The user is allergic to peanuts." in certain(
        await told(memory, "I'm allergic to peanuts.", said)
    )


async def test_an_order_is_certain_although_it_tells_nothing_lasting(memory: Memory) -> None:
    assert certain(await told(memory, "Keep it short please")) == {"The user asks: keep it short."}


@pytest.mark.parametrize(("turns", "kept"), CASES["what_is_denied_at_once_ends_nothing"])
async def test_what_is_denied_at_once_ends_nothing(
    turns: list[str], kept: list[str] | None, memory: Memory
) -> None:
    rows = await told(memory, *turns)
    first = {one.text for one in rows if one.said_at == FRIDAY}
    assert certain(rows) == (first if kept is None else set(kept))


async def test_a_correction_said_again_puts_nothing_in_doubt(memory: Memory) -> None:
    again = (
        "My meeting is on Tuesday",
        "no Wednesday",
        "no I said Wednesday",
        "no I said Wednesday",
    )
    assert certain(await told(memory, *again)) == {
        "The user's meeting is on 2026-11-25 (Wednesday)."
    }


async def test_orders_end_by_orders_alone(memory: Memory) -> None:
    """The block lets the last order decide, and needs the earlier one for that."""
    never = ("Never wake me with the radio.", "Never remind me about the gym either.")
    rows = await told(
        memory, *never, "I've rejoined the gym, so you can remind me about it after all."
    )
    assert not [one for one in rows if one.relation == "asks" and one.text not in certain(rows)]


async def test_an_order_keeps_what_shall_not_be_done(memory: Memory) -> None:
    rows = await told(memory, "And call me Mrs Whitlock, not Dorothy.")
    assert "The user asks: call me Mrs Whitlock, not Dorothy." in certain(rows)


@scored("text", [line.split("\t")[0] for line in LINES if line.endswith("\tnot")], floor=0.75)
def test_what_is_not_meant_is_recognised(text: str) -> None:
    assert is_unmeant(text)


MEANT = [line.split("\t")[0] for line in LINES if line.endswith("\tmeant")]


@pytest.mark.parametrize(("texts", "least"), [(MEANT, 0.88), (SAID, 0.93)])
def test_what_is_meant_is_left_alone(texts: list[str], least: float) -> None:
    assert sum(not is_unmeant(text) for text in texts) >= least * len(texts)
