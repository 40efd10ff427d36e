"""No text delays a bot: every call returns in time and does not block the event loop.

Time limits allow for a busy machine of two cores, where a call may take three times as long.
"""

import gc
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem import InvalidInput, Memory, Turn
from hotmem.models import Language
from hotmem.storage import queries
from hotmem.text.passages import (
    MAX_PARSED_CHARACTERS,
    MAX_SYMBOL_RUN,
    MAX_UNSPACED_RUN,
    truncate,
    truncate_start,
)
from hotmem.text.validation import (
    MAX_ID_CHARACTERS,
    MAX_STATEMENT_CHARACTERS,
    MAX_TEXT_CHARACTERS,
    clean_text,
)
from hotmem.types import EvidenceKind, Role, UserKey
from hotmem.understanding.query.analyzer import analyse
from hotmem.understanding.query.command_rules import find_command
from hotmem.understanding.query.off_record import confirms_deletion
from hotmem.understanding.turn_reader import MAX_CHARACTERS
from tests.attacks.hostile import UNITS, repeated, watched
from tests.conversation import START, OpenMemory, read_facts, remember, user_of

LONG = 100_000
"""Characters of a hostile text."""

DEADLINE_MS = 150.0
LATE_S = 0.5
"""Seconds beyond its deadline that a call may take; 0.1 on a machine that does nothing else."""

STALL_S = 0.4
"""Seconds that the loop may stand still; 0.1 on a machine that does nothing else."""

OUTRIGHT_S = 3.0
"""Seconds of a call without a deadline."""

TURN_S = 8.0
"""Seconds of processor time for one turn to be understood. 4,000 characters of hostile words
take up to 1.2."""

Call = Callable[[Memory, str], Awaitable[object]]


async def _feedback(memory: Memory, text: str) -> object:
    block = await memory.recall("What is my dog called?", user_id="ana")
    assert block.items
    return await memory.feedback(block, text)


CALLS: dict[str, Call] = {
    "recall": lambda memory, text: memory.recall(
        text, user_id="ana", session_id="now", deadline_ms=DEADLINE_MS
    ),
    "recall visible": lambda memory, text: memory.recall(
        "What is my dog called?", user_id="ana", deadline_ms=DEADLINE_MS, visible=(text,)
    ),
    "search": lambda memory, text: memory.search_memory(text, user_id="ana"),
    "search contextual": lambda memory, text: memory.search_contextual(text, user_id="ana"),
    "trace": lambda memory, text: memory.trace_search(text, user_id="ana"),
    "store": lambda memory, text: memory.store_memory(
        text[:MAX_STATEMENT_CHARACTERS], user_id="ben"
    ),
    "forget": lambda memory, text: memory.forget(
        user_id="ana", entity=text[:MAX_ID_CHARACTERS], dry_run=True
    ),
    "feedback": _feedback,
    "withhold": lambda memory, text: memory.runtime.suppression.withhold(text, user_id="cy"),
}


def some_units(first: int) -> list[str]:
    """Return an eighth of the units, to limit the time of the tests; calls get different ones."""
    return list(UNITS)[first % 8 :: 8]


@pytest.fixture(autouse=True)
def frozen(language: Language) -> Iterator[None]:
    """No collection scans the thousands of tests of this process, as in a bot that sets
    `gc_freeze`; such a scan alone takes up to half of `STALL_S`.
    """
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
async def known(database: Path, open_memory: OpenMemory) -> AsyncIterator[Memory]:
    """A memory with some facts and one recall."""
    async with open_memory(database) as memory:
        for at, text in enumerate(
            (
                "My dog is called Rex.",
                "I live in Lisbon.",
                "I start work at the bakery at six tomorrow.",
            )
        ):
            await memory.remember(
                Turn("ana", "then", "user", text, START + timedelta(minutes=at), "Ana")
            )
        await memory.settle()
        await memory.recall("What is my dog called?", user_id="ana")
        yield memory


@pytest.mark.parametrize("name", CALLS)
async def test_every_call_returns_in_time_for_any_text(known: Memory, name: str) -> None:
    limit_s = DEADLINE_MS / 1000 + LATE_S if name.startswith("recall") else OUTRIGHT_S
    for unit in UNITS if name == "recall" else some_units(list(CALLS).index(name)):
        text = repeated(UNITS[unit], LONG)
        began = time.monotonic()
        async with watched() as watch:
            try:
                await CALLS[name](known, text)
            except InvalidInput as error:
                assert not clean_text(text) or "entity is empty" in str(error), error
            took = time.monotonic() - began
        assert took < limit_s, f"{name} of {unit} took {took:.2f} s"
        assert watch.stalled_s < STALL_S, (
            f"{name} of {unit} held the loop for {watch.stalled_s:.2f} s"
        )


@pytest.mark.parametrize("role", Role)
async def test_storing_any_turn_does_not_block_the_loop(role: Role, lettered: Memory) -> None:
    for unit in some_units(role is Role.USER):
        text = repeated(UNITS[unit], MAX_TEXT_CHARACTERS)
        for last in (False, True):  # a shared machine may stand still once
            began = time.monotonic()
            async with watched() as watch:
                try:
                    await lettered.remember(Turn("ana", f"of {unit}", role, text, START))
                except InvalidInput:
                    assert not clean_text(text)
                took = time.monotonic() - began
            await lettered.forget(user_id="ana", everything=True)  # facts have their own test
            if last or (took < OUTRIGHT_S and watch.stalled_s < STALL_S):
                break
        assert took < OUTRIGHT_S, f"{unit} took {took:.2f} s to store"
        assert watch.stalled_s < STALL_S, f"{unit} held the loop for {watch.stalled_s:.2f} s"


@pytest.mark.parametrize("unit", list(UNITS)[::2])
def test_facts_of_any_turn_are_extracted_in_time(language: Language, unit: str) -> None:
    text = clean_text(repeated(UNITS[unit], LONG))
    began = time.process_time()
    read_facts(language, truncate(text, MAX_CHARACTERS[Role.USER]))
    assert time.process_time() - began < TURN_S


mixed = st.lists(
    st.tuples(st.sampled_from(tuple(UNITS.values())) | st.text(max_size=12), st.integers(1, 400)),
    min_size=1,
    max_size=8,
).map(
    lambda parts: clean_text(
        "".join(repeated(unit or " ", characters) for unit, characters in parts)
    )
)


@settings(max_examples=40)
@given(text=mixed)
def test_mixed_hostile_text_is_analysed_in_time(language: Language, text: str) -> None:
    began = time.process_time()
    understood = read_facts(language, parsed := truncate(text, MAX_CHARACTERS[Role.USER]))
    assert all(0 <= one.start <= one.stop <= len(parsed) for one in understood.statements)
    asked = language.parse([truncate_start(text)], names=False)[0]
    assert analyse(asked, START).terms is not None
    find_command(text)
    confirms_deletion(text, "Rex")
    assert time.process_time() - began < TURN_S


@pytest.mark.parametrize("unit", ["brackets", "emoji", "gaps", "one word", "noes", "because"])
async def test_processing_any_turn_does_not_block_the_loop(known: Memory, unit: str) -> None:
    """Storing, splitting into passages, embedding and extraction."""
    began = time.process_time()
    async with watched() as watch:
        text = repeated(UNITS[unit], 10_000)
        await known.remember(Turn("ana", "now", "user", text, START + timedelta(days=1), "Ana"))
        block = await known.recall("What is my dog called?", user_id="ana", deadline_ms=2_000)
        await known.settle()
    assert "Rex" in block.text
    assert time.process_time() - began < TURN_S
    assert watch.stalled_s < STALL_S


async def test_a_sentence_among_hostile_characters_is_understood_and_quoted(known: Memory) -> None:
    """Source spans refer to the turn, not to the truncated text that was parsed."""
    text = f"{'(' * 5_000} My sister's name is Clara. {'😀' * 5_000} I'm allergic to walnuts."
    await remember(known, Turn("dora", "now", "user", text, START, "Dora", id="hostile"))
    told = {memory.text for memory in await known.memories("dora")}
    assert any("Clara" in one for one in told) and any("walnuts" in one for one in told)
    (turn,) = [
        turn
        for _, turn in await known.runtime.database.read(
            queries.turns.of_user, await _user(known, "dora"), 0, 1000
        )
    ]
    assert turn.text == text
    found = await known.recall("What am I allergic to?", user_id="dora")
    assert {item.kind for item in found.items} <= {
        EvidenceKind.MEMORY,
        EvidenceKind.PASSAGE,
    } and "walnuts" in found.text


async def _user(memory: Memory, user_id: str) -> UserKey:
    found = await user_of(memory.runtime.database, user_id)
    return found


async def test_a_name_to_forget_has_a_maximum_length(known: Memory) -> None:
    with pytest.raises(InvalidInput, match="entity has 100,000 characters"):
        await known.forget(user_id="ana", entity="a" * LONG)


@pytest.mark.parametrize("unit", UNITS)
def test_the_parser_input_is_bounded(unit: str) -> None:
    read = truncate(repeated(UNITS[unit], LONG))
    assert len(read) <= MAX_PARSED_CHARACTERS
    assert max((len(word) for word in read.split()), default=0) <= MAX_UNSPACED_RUN + MAX_SYMBOL_RUN
