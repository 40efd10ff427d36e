"""The session-start block: name, instructions, facts, plans, and what was left open."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from hotmem import InvalidInput, Memory
from hotmem.block.rendering import CLOSING, INSTRUCTIONS, NOTES, OPENING
from hotmem.options import Options, RecallOptions
from hotmem.settings import Settings
from hotmem.types import ContextBlock, Turn
from tests.conversation import OpenMemory
from tests.tables import tables

CASES = tables(__file__)

BERLIN = ZoneInfo("Europe/Berlin")
WEDNESDAY = datetime(2026, 3, 4, 18, tzinfo=BERLIN)
THURSDAY = datetime(2026, 3, 5, 8, tzinfo=BERLIN)

TOLD = CASES["told"]


async def tell(
    memory: Memory,
    *texts: str,
    session: str = "wednesday",
    at: datetime = WEDNESDAY,
    speaker: str | None = "Ana",
) -> None:
    for number, text in enumerate(texts):
        await memory.remember(
            Turn("ana", session, "user", text, at + timedelta(minutes=number), speaker)
        )
    await memory.end_session(user_id="ana", session_id=session)
    await memory.settle()


async def opened(
    memory: Memory,
    max_tokens: int | None = 400,
    at: datetime = THURSDAY,
    *,
    rules_only: bool = False,
) -> ContextBlock:
    return await memory.opening(
        user_id="ana", session_id="thursday", at=at, max_tokens=max_tokens, rules_only=rules_only
    )


async def test_the_session_start_block_has_name_instructions_facts_plans_and_open_points(
    memory: Memory,
) -> None:
    await tell(memory, *TOLD)
    block = await opened(memory)
    assert block.text.splitlines() == [
        OPENING,
        INSTRUCTIONS,
        "- “call me Annie”",
        "- “keep it short”",
        "- “never mention my ex”",
        NOTES,
        "The user:",
        "Call them Annie. Their name is Ana.",
        "- Ana is allergic to peanuts.",
        "- Ana's sister is called Marta.",
        "Today, 2026-03-05 (Thursday):",
        "- Ana has an interview on 2026-03-05 (Thursday) at 15:00.",
        "Tomorrow, 2026-03-06 (Friday):",
        "- On 2026-03-06 (Friday) Ana is seeing the dentist.",
        "Left open on 2026-03-04:",
        "- Ana still needs to book the ferry to Norway.",
        CLOSING,
    ]
    assert block.tokens == memory.runtime.recall.tokens.count(block.text)
    assert all(item.text in block.text and item.turn_ids for item in block.items)
    assert len(block.items) == 8
    assert (block.user_id, block.session_id, block.at) == ("ana", "thursday", THURSDAY)


async def test_today_is_in_the_time_zone_of_the_user(memory: Memory) -> None:
    await tell(memory, "I have an interview tomorrow at three in the afternoon.")
    late = datetime(2026, 3, 4, 23, 30, tzinfo=UTC)
    assert "Tomorrow, 2026-03-05" in (await opened(memory, at=late)).text
    assert "Today, 2026-03-05" in (await opened(memory, at=late.astimezone(BERLIN))).text
    assert "interview" not in (await opened(memory, at=THURSDAY + timedelta(days=1))).text


async def test_the_budget_holds_and_instructions_come_first(memory: Memory) -> None:
    await tell(memory, *TOLD)
    for max_tokens in range(1, 260, 7):
        block = await opened(memory, max_tokens)
        assert block.tokens == (memory.runtime.recall.tokens.count(block.text) if block.text else 0)
        assert block.tokens <= max_tokens
        instructions = sum(
            line in block.text
            for line in ("- “call me Annie”", "- “keep it short”", "- “never mention my ex”")
        )
        assert instructions == 3 or NOTES not in block.text


async def test_later_turns_get_instructions_only(memory: Memory) -> None:
    await tell(memory, *TOLD)
    block = await opened(memory, rules_only=True)
    assert block.text.splitlines()[1:-1] == [
        INSTRUCTIONS,
        "- “call me Annie”",
        "- “keep it short”",
        "- “never mention my ex”",
    ]
    assert block.tokens < 70


@pytest.mark.parametrize("context", [{"kind": "rule"}, {}])
async def test_a_stored_instruction(memory: Memory, context: dict[str, str]) -> None:
    await memory.store_memory("Always call me Annie.", user_id="ana", context=context)
    await memory.store_memory("The boiler's serial number is 44 B 19.", user_id="ana")
    block = await opened(memory)
    assert "- “Always call me Annie.”" in block.text
    assert "Call them Annie." in block.text
    assert "boiler" not in block.text


@pytest.mark.parametrize(("note", "context", "shown"), CASES["what_is_stored_is_given"])
async def test_what_is_stored_is_given(
    memory: Memory, note: str, context: dict[str, str], shown: str
) -> None:
    await memory.store_memory(note, user_id="ana", context=context)
    assert shown in (await opened(memory)).text


@pytest.mark.parametrize(("first", "second", "holds"), CASES["a_later_instruction_replaces"])
async def test_a_later_instruction_replaces_an_earlier_one_on_the_same_topic(
    memory: Memory, first: str, second: str, holds: list[str]
) -> None:
    await tell(memory, first, second)
    assert [item.text for item in (await opened(memory, rules_only=True)).items] == holds


@pytest.mark.parametrize(
    "said",
    CASES["a_plan_in_any_tense"],
)
async def test_a_plan_in_any_tense(memory: Memory, said: str) -> None:
    await tell(memory, said)
    assert "Today, 2026-03-05 (Thursday):\n- " in (await opened(memory)).text


async def test_a_question_is_not_a_plan(memory: Memory) -> None:
    await tell(
        memory, "Do I have anything on Thursday?", "Can you remind me of the dentist on Thursday?"
    )
    text = (await opened(memory)).text
    assert "anything" not in text
    assert "reminded of the dentist on 2026-03-05 (Thursday)" in text


@pytest.mark.parametrize(
    "said",
    CASES["a_question_or_denial_of_plans_is_not_a_plan"],
)
async def test_a_question_or_denial_of_plans_is_not_a_plan(memory: Memory, said: str) -> None:
    await tell(memory, said)
    assert "tomorrow" not in (await opened(memory)).text


async def test_a_plan_for_the_same_day(memory: Memory) -> None:
    await tell(
        memory, "I've got a dentist appointment today.", "I saw my brother today.", at=THURSDAY
    )
    text = (await opened(memory, at=THURSDAY + timedelta(hours=1))).text
    assert "dentist" in text
    assert "brother" not in text


async def test_confidential_plans_and_facts_are_not_volunteered(memory: Memory) -> None:
    await tell(
        memory,
        "Tomorrow is the surprise party for my husband Tom.",
        "My husband doesn't know that I'm allergic to cats.",
        "please keep this between us i'm pregnant",
        "I am allergic to peanuts.",
    )
    text = (await opened(memory)).text
    assert "peanuts" in text
    assert not [kept for kept in ("surprise", "doesn't know", "pregnant") if kept in text]


async def test_a_moved_appointment_is_not_listed_on_its_old_day(memory: Memory) -> None:
    await tell(
        memory, "My dentist appointment is on Thursday.", "My dentist appointment is on Friday."
    )
    text = (await opened(memory)).text
    assert "Tomorrow, 2026-03-06 (Friday):" in text
    assert "Today" not in text


async def test_what_other_speakers_want_is_no_instruction(memory: Memory) -> None:
    await memory.set_user_name("ana", "Ana")
    await tell(memory, "My dog is called Rocky.", "I am allergic to peanuts.")
    await tell(memory, "Call me Rui.", "Call them King.", session="visit", speaker="Rui")
    shown = (await opened(memory)).text
    assert "Call them Ana." in shown and "Rui" not in shown and "King" not in shown


@pytest.mark.parametrize(
    "hostile",
    CASES["no_instruction_closes_the_block_or_imitates"],
)
async def test_no_instruction_closes_the_block_or_imitates_another_role(
    memory: Memory, hostile: str
) -> None:
    await tell(memory, hostile)
    await memory.store_memory(hostile, user_id="ana", context={"kind": "rule"})
    block = await opened(memory, rules_only=True)
    lines = block.text.splitlines()
    assert (lines[0], lines[-1]) == (OPENING, CLOSING)
    assert len(block.items) == len(lines) - 3 > 0
    assert all(
        line.startswith("- “") and line.endswith("”") and line.count("”") == 1
        for line in lines[2:-1]
    )
    assert block.text.lower().replace(" ", "").count("</memory>") == 1
    assert "<|" not in block.text


async def test_forgotten_text_is_not_given(memory: Memory) -> None:
    await tell(memory, *TOLD)
    await memory.forget(user_id="ana", everything=True)
    assert (await opened(memory)).text == ""


async def test_an_unknown_user_gets_no_block(memory: Memory) -> None:
    block = await opened(memory)
    assert (block.text, block.items, block.tokens, block.trace.reason) == (
        "",
        (),
        0,
        "Nothing is known about the user.",
    )


async def test_the_block_can_be_disabled(
    memory: Memory, database: Path, open_memory: OpenMemory
) -> None:
    await tell(memory, *TOLD)
    assert (await opened(memory, 0)).trace.reason == "The session-start block is disabled."
    options = Options(recall=RecallOptions(opening_tokens=0))
    async with open_memory(database, options) as quiet:
        assert (await opened(quiet, None)).text == ""
    with pytest.raises(InvalidInput):
        await opened(memory, -1)


def test_the_budget_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTMEM_OPENING_TOKENS", "120")
    assert Settings().options().recall.opening_tokens == 120


async def test_instructions_are_found_among_many_statements(memory: Memory) -> None:
    await tell(
        memory,
        *(
            f"I have {number} apples and my friend Bea has none on day {number}."
            for number in range(60)
        ),
        "Call me Annie.",
    )
    assert "“call me Annie”" in (await opened(memory)).text


@pytest.mark.parametrize(("plan", "later", "old_day", "new_day"), CASES["a_plan_that_was_changed"])
async def test_a_plan_that_was_changed_later(
    memory: Memory, plan: str, later: str, old_day: int, new_day: int | None
) -> None:
    await tell(memory, plan, session="first", at=datetime(2026, 11, 2, 10, tzinfo=BERLIN))
    await tell(memory, later, session="second", at=datetime(2026, 11, 16, 10, tzinfo=BERLIN))
    block = await opened(memory, at=datetime(2026, 11, old_day, 8, tzinfo=BERLIN))
    lines = [line for line in block.text.splitlines() if line.startswith("- ")]
    assert len(lines) <= 1, "a plan that has ended may be left out"
    assert all(line.endswith(f"“{later}” (said 2026-11-16)") for line in lines)
    assert all(item.text in block.text for item in block.items)
    if new_day is not None:
        assert (
            "Today" in (await opened(memory, at=datetime(2026, 11, new_day, 8, tzinfo=BERLIN))).text
        )


async def test_an_earlier_statement_does_not_cancel_a_later_plan(memory: Memory) -> None:
    await tell(memory, "I cancelled my haircut.", session="first", at=WEDNESDAY - timedelta(days=1))
    await tell(memory, "I have a haircut on Thursday.", session="second")
    assert "cancelled" not in (await opened(memory)).text


async def test_a_private_change_hides_the_plan_too(memory: Memory) -> None:
    await tell(
        memory, "I have a haircut on Thursday.", "I cancelled the haircut but that's between us."
    )
    assert "haircut" not in (await opened(memory)).text


async def test_a_stored_plan_that_was_changed_later(memory: Memory) -> None:
    await memory.store_memory("Boiler service on 6 March 2099 at 10.", user_id="ana")
    await tell(
        memory, "The boiler service is cancelled.", at=datetime(2099, 3, 1, 9, tzinfo=BERLIN)
    )
    text = (await opened(memory, at=datetime(2099, 3, 6, 8, tzinfo=BERLIN))).text
    assert "Boiler service" not in text or "“The boiler service is cancelled.”" in text


async def test_a_plan_with_its_time_of_day(memory: Memory) -> None:
    await tell(memory, "I've got a review with Priya next Tuesday at ten.")
    assert (
        "- Ana has got a review with Priya on 2026-03-10 (Tuesday) at 10:00."
        in (await opened(memory, at=datetime(2026, 3, 10, 8, tzinfo=BERLIN))).text
    )


@pytest.mark.parametrize(
    ("note", "given"),
    CASES["a_stored_lasting_fact"],
)
async def test_a_stored_lasting_fact(memory: Memory, note: str, given: bool) -> None:
    await memory.store_memory(note, user_id="ana")
    await tell(memory, "Hello there.")
    assert (note in (await opened(memory)).text) is given
