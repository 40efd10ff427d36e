"""A fact ends only by one about the same person or thing, whatever the relation."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem import Memory
from hotmem.readings import store_understanding
from hotmem.storage import Storage, open_storage, queries
from hotmem.storage.queries.jobs import UserRotation
from hotmem.types import Statement, StoredMemory, Understanding
from hotmem.understanding.extraction.proposals import RELATIONS
from hotmem.understanding.facts.relations import Relation
from tests.conversation import START, remember, said, store_turns, user_of
from tests.tables import tables
from tests.thoroughness import examples

CASES = tables(__file__)

SERVED = UserRotation()

SINGLE = {name: relation for name, relation in RELATIONS.items() if relation.single}

SAYINGS = CASES["sayings"]
"""What is said of somebody, with values."""

KINDS = CASES["kinds"]
"""Of whom one has several; another name of one's wife is a change."""
NAMES = CASES["names"]

kinds = st.sampled_from(KINDS)
names = st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique=True)
things = st.sampled_from(["", "'s work phone", "'s first school"])


async def learnt(storage: Storage, statements: list[Statement]) -> list[StoredMemory]:
    """Return all memories after each statement was extracted from a turn, one a day."""
    for number, statement in enumerate(statements):
        await store_turns(storage.database, said(statement.text, minutes=number * 24 * 60))
        ((key, _),) = await storage.database.read_all(queries.turns.waiting, SERVED, 1)
        await storage.database.write_all(store_understanding, key, Understanding((statement,)))
    user = await user_of(storage.database)
    return await storage.database.read(queries.memories.of_user, user, START, past=True)


def of(relation: Relation, subject: str, value: str) -> Statement:
    text = f"{subject} {relation.name} {value}."
    return relation.statement(subject, value, text, 0, len(text))


def ended(memories: Sequence[StoredMemory]) -> list[str]:
    return [one.object for one in memories if not one.current]


def is_changed(memory: StoredMemory) -> bool:
    """Whether a memory has ended or may be outdated."""
    return not memory.current or memory.doubted_at is not None


@pytest.mark.parametrize("relation", SINGLE.values(), ids=SINGLE)
def test_of_two_of_a_kind_neither_ends_the_other(
    relation: Relation, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """For every relation of the table.

    Another name or qualifier ends nothing, another value of the same one does.
    """

    @settings(max_examples=examples(10))
    @given(kinds, names, things, st.booleans())
    def two(kind: str, who: list[str], thing: str, by_qualifier: bool) -> None:
        subjects = [f"Ana's {kind} {name}{thing}" for name in who]
        if by_qualifier:
            subjects = ["Ana's work phone number", "Ana's phone number"]

        async def run() -> None:
            storage = open_storage(tmp_path_factory.mktemp("whose") / "memory.db")
            try:
                told = [
                    of(relation, subject, f"Value {place}")
                    for place, subject in enumerate(subjects)
                ]
                assert ended(await learnt(storage, told)) == []
                assert ended(await learnt(storage, [of(relation, subjects[0], "Another")])) == [
                    "Value 0"
                ]
            finally:
                await storage.database.close()

        asyncio.run(run())

    two()


@pytest.mark.parametrize(("place", "saying"), [*enumerate(SAYINGS)])
async def test_what_is_said_of_one_changes_nothing_of_another(
    memory: Memory, place: int, saying: tuple[str, list[str]]
) -> None:
    """Two of a kind are told of, then the second again with another value."""
    words, values = saying
    kind = KINDS[place % len(KINDS)]
    who = [NAMES[(5 * place) % len(NAMES)], NAMES[(5 * place + 1) % len(NAMES)]]
    turns = [
        said(f"My {kind} {name}{words.format(value)}", minutes=day * 24 * 60, session=str(day))
        for day, (name, value) in enumerate(zip((*who, who[1]), values, strict=True))
    ]
    await remember(memory, *turns[:2])
    assert not [one for one in await memory.memories("ana", past=True) if is_changed(one)]
    await remember(memory, turns[2])
    after = await memory.memories("ana", past=True)
    assert {one.turn_ids for one in after if is_changed(one)} <= {(turns[1].id,)}


async def test_asked_of_one_son_the_block_has_him_as_he_is(memory: Memory) -> None:
    await remember(
        memory,
        "My son Leo is five.",
        said("My son Max is seven.", minutes=3 * 24 * 60, session="thursday"),
    )

    block = await memory.recall("How old is Leo?", user_id="ana", at=START + timedelta(days=4))
    assert "Leo is five" in block.items[0].text
    assert "until" not in block.text and all(item.valid_until is None for item in block.items)


@pytest.mark.parametrize(("first", "second", "text"), CASES["what_is_of_another_stays"])
async def test_what_is_of_another_stays(memory: Memory, first: str, second: str, text: str) -> None:
    await remember(memory, first, said(second, minutes=24 * 60))
    assert text in [known.text for known in await memory.memories("ana")]
    assert ended(await memory.memories("ana", past=True)) == []


async def test_the_same_said_of_another_is_no_repetition(memory: Memory) -> None:
    await remember(memory, "My son Max is seven.", said("My son Leo is seven.", minutes=1))
    assert {"Ana's son Max is seven.", "Ana's son Leo is seven."} <= {
        known.text for known in await memory.memories("ana")
    }


@pytest.mark.parametrize(("first", "second", "old"), CASES["what_changes_of_the_same_one"])
async def test_what_changes_of_the_same_one_is_over_or_in_doubt(
    memory: Memory, first: str, second: str, old: str
) -> None:
    await remember(memory, first, said(second, minutes=24 * 60))
    (over,) = filter(is_changed, await memory.memories("ana", past=True))
    assert old in over.text


async def test_an_unnamed_one_may_be_another_than_the_named(memory: Memory) -> None:
    await remember(memory, "My son Max is seven.", said("My son is eight.", minutes=24 * 60))
    known = await memory.memories("ana", past=True)
    assert ended(known) == []
    assert [one.text for one in known if one.doubted_at] == ["Ana's son Max is seven."]


async def test_an_unnamed_one_of_two_ends_neither(memory: Memory) -> None:
    for place, text in enumerate(
        ("My son Max is seven.", "My son Leo is five.", "My son is eight.")
    ):
        await memory.remember(said(text, minutes=place * 24 * 60))
    await memory.settle()
    assert ended(await memory.memories("ana", past=True)) == []
