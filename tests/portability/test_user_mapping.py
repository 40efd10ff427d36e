"""A fact ends only by one about the same person or thing, whatever the relation."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem import Memory
from hotmem.consolidation.same_subject import find_same_subjects
from hotmem.consolidation.supersession import apply_correction, find_supersession
from hotmem.models import Language
from hotmem.storage import Storage, open_storage, queries
from hotmem.storage.queries.jobs import UserRotation
from hotmem.types import Statement, StoredMemory, Understanding
from hotmem.understanding.facts import relations
from hotmem.understanding.facts.relations import Relation
from tests.conversation import START, said
from tests.letters import LetterEncoder
from tests.thoroughness import examples

SERVED = UserRotation()

SINGLE = {
    name: relation
    for name, relation in vars(relations).items()
    if isinstance(relation, Relation) and relation.single
}

SAYINGS = {
    "IS_AGED": ("is {}.", ("seven", "nine", "eleven")),
    "LIVES_IN": ("lives in {}.", ("Denver", "Phoenix", "Lisbon")),
    "WORKS_AT": ("works at {}.", ("Nokia", "Siemens", "Ikea")),
    "WORKS_AS": ("works as {}.", ("a baker", "a nurse", "a pilot")),
    "STUDIES_AT": ("is studying at {}.", ("Delft", "Oxford", "Leiden")),
    "IS_FROM": ("comes from {}.", ("Ghana", "Chile", "Peru")),
    "BORN_IN": ("was born in {}.", ("Graz", "Porto", "Vienna")),
    "MARRIED_TO": ("is married to {}.", ("Ines", "Pedro", "Clara")),
    "WITH": ("is dating {}.", ("Lena", "Marco", "Clara")),
    "IS_CALLED": ("'s boss is called {} now.", ("Helena", "Bruno", "Karim")),
    "IS_DETAIL": ("'s shoe size is {}.", ("30", "35", "38")),
    "FAVOURITE": ("'s favourite food is {}.", ("pizza", "ramen", "soup")),
    "IS_OF_MAKE": ("'s car is a {}.", ("Toyota", "Honda", "Nissan")),
    "IS_IN": ("'s office is in {}.", ("Berlin", "Paris", "London")),
    "IS_ON": ("'s exam is on {}.", ("5 June", "9 June", "12 July")),
    "IS_BORN_ON": ("'s birthday is on {}.", ("3 May", "9 October", "7 July")),
}
"""What is said of somebody, by single-valued relation, with values."""

KINDS = (
    "son",
    "daughter",
    "sister",
    "brother",
    "friend",
    "cousin",
    "aunt",
    "uncle",
    "niece",
    "colleague",
    "dog",
    "cat",
)
"""Of whom one has several; another name of one's wife is a change."""
NAMES = (
    "Max",
    "Leo",
    "Beth",
    "Carla",
    "Emil",
    "Paula",
    "Finn",
    "Nora",
    "Tom",
    "Anna Berg",
    "Anna Lind",
    "April",
    "Anna-Lena",
)

kinds = st.sampled_from(KINDS)
names = st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique=True)
things = st.sampled_from(["", "'s work phone", "'s first school"])
QUOTE = "'"


async def learnt(storage: Storage, statements: list[Statement]) -> list[StoredMemory]:
    """Return all memories after each statement was extracted from a turn, one a day."""
    for number, statement in enumerate(statements):
        await storage.database.write_all(
            queries.turns.add, said(statement.text, minutes=number * 24 * 60), START
        )
        ((key, _),) = await storage.database.read_all(queries.turns.waiting, SERVED, 1)
        await storage.database.write_all(
            queries.understandings.store_all,
            {key: Understanding((statement,))},
            find_supersession,
            apply_correction,
            find_same_subjects,
        )
    user = await storage.database.read_all(queries.users.find, "ana")
    assert user is not None
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

    @settings(max_examples=examples(10), deadline=None)
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


def test_every_relation_of_one_value_is_said() -> None:
    assert SAYINGS.keys() == SINGLE.keys()


@pytest.mark.parametrize(
    ("name", "saying", "values"),
    [(name, *said_so) for name, said_so in SAYINGS.items()],
    ids=SAYINGS,
)
def test_what_is_said_of_one_ends_nothing_of_another(
    name: str,
    saying: str,
    values: tuple[str, ...],
    language: Language,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Two of a kind are told of, then the second again with another value.

    Of what was read, only the second's old value ends, or may be outdated where it is of one of
    several things: "Max's car".
    """
    changed = 0

    @settings(max_examples=examples(8), deadline=None)
    @given(kinds, names)
    def whoever(kind: str, who: list[str]) -> None:
        nonlocal changed
        words = [
            f"My {kind} {person}{'' if saying.startswith(QUOTE) else ' '}{saying}"
            for person in (who[0], who[1], who[1])
        ]
        turns = [
            said(text.format(value), minutes=place * 24 * 60, session=str(place))
            for place, (text, value) in enumerate(zip(words, values, strict=True))
        ]

        async def run() -> tuple[list[StoredMemory], list[StoredMemory]]:
            path = tmp_path_factory.mktemp("whose") / "memory.db"
            async with Memory.open(path, encoder=LetterEncoder(), language=language) as memory:
                for turn in turns[:2]:
                    await memory.remember(turn)
                await memory.settle()
                two = await memory.memories("ana", past=True)
                await memory.remember(turns[2])
                await memory.settle()
                return two, await memory.memories("ana", past=True)

        two, after = asyncio.run(run())
        assert not [memory for memory in two if is_changed(memory)]
        assert {memory.turn_ids for memory in after if is_changed(memory)} <= {(turns[1].id,)}
        changed += any(map(is_changed, after))

    whoever()
    assert changed, "the grammar reads some of it"


async def test_asked_of_one_son_the_block_has_him_as_he_is(memory: Memory) -> None:
    await memory.remember(said("My son Leo is five."))
    await memory.remember(said("My son Max is seven.", minutes=3 * 24 * 60, session="thursday"))
    await memory.settle()

    block = await memory.recall("How old is Leo?", user_id="ana", at=START + timedelta(days=4))
    assert "Leo is five" in block.items[0].text
    assert "until" not in block.text and all(item.valid_until is None for item in block.items)


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        (
            "My sister Beth lives in Denver.",
            "My sister Carla lives in Phoenix.",
            "Ana's sister Beth lives in Denver.",
        ),
        (
            "My phone number is 555 1234.",
            "My work phone number is 555 9876.",
            "Ana's phone number is 555 1234.",
        ),
        (
            "My sister Beth's husband works at Ikea.",
            "My sister Carla's husband works at Bosch.",
            "Ana's sister Beth's husband works at Ikea.",
        ),
        ("I work at Bosch.", "I also work at Lidl.", "Ana works at Bosch."),
        ("I work at Bosch.", "At the weekend I work at Lidl.", "Ana works at Bosch."),
        (
            "I work at the hospital.",
            "I volunteer at the animal shelter.",
            "Ana works at the hospital.",
        ),
        ("My car is red.", "My car is a Saab.", "Ana's car is red."),
        ("My dog is called Rex.", "My dog is called Bella.", "Ana's dog is called Rex."),
        ("my son yusuf is seven", "my son chidi is five", "Ana's son Yusuf is seven."),
        (
            "My son Max likes spinach.",
            "My son Leo doesn't like spinach.",
            "Ana's son Max likes spinach.",
        ),
        (
            "My sister Beth is single.",
            "My sister Carla is a married woman.",
            "Ana's sister Beth is single.",
        ),
    ],
)
async def test_what_is_of_another_stays(memory: Memory, first: str, second: str, text: str) -> None:
    await memory.remember(said(first))
    await memory.remember(said(second, minutes=24 * 60))
    await memory.settle()
    assert text in [known.text for known in await memory.memories("ana")]
    assert ended(await memory.memories("ana", past=True)) == []


async def test_the_same_said_of_another_is_no_repetition(memory: Memory) -> None:
    await memory.remember(said("My son Max is seven."))
    await memory.remember(said("My son Leo is seven.", minutes=1))
    await memory.settle()
    assert {"Ana's son Max is seven.", "Ana's son Leo is seven."} <= {
        known.text for known in await memory.memories("ana")
    }


@pytest.mark.parametrize(
    ("first", "second", "old"),
    [
        ("My older son Max is seven.", "My son Max is eight.", "seven"),
        ("My niece Paula is ten.", "Paula is eleven now.", "ten"),
        ("My boss is Helena.", "My boss is Karim now.", "Helena"),
        ("My boss is called Helena.", "My new boss is called Karim.", "Helena"),
        ("My phone number is 555 1234.", "My new phone number is 555 9876.", "555 1234"),
    ],
)
async def test_what_changes_of_the_same_one_ends(
    memory: Memory, first: str, second: str, old: str
) -> None:
    await memory.remember(said(first))
    await memory.remember(said(second, minutes=24 * 60))
    await memory.settle()
    assert ended(await memory.memories("ana", past=True)) == [old]


async def test_an_unnamed_one_may_be_another_than_the_named(memory: Memory) -> None:
    await memory.remember(said("My son Max is seven."))
    await memory.remember(said("My son is eight.", minutes=24 * 60))
    await memory.settle()
    known = await memory.memories("ana", past=True)
    assert ended(known) == []
    assert [one.object for one in known if one.doubted_at] == ["seven"]


async def test_an_unnamed_one_of_two_ends_neither(memory: Memory) -> None:
    for place, text in enumerate(
        ("My son Max is seven.", "My son Leo is five.", "My son is eight.")
    ):
        await memory.remember(said(text, minutes=place * 24 * 60))
    await memory.settle()
    assert ended(await memory.memories("ana", past=True)) == []
