"""Tags of memories: extracted from their text, and deleted with it."""

import json

import pytest

from eval.tools.tags import reused
from hotmem import Memory
from hotmem.models import Language
from hotmem.tools.editing import OptimizeTagsArguments, optimize_tags
from hotmem.tools.maintenance import NoArguments, memory_stats
from hotmem.types import Category, Kind
from hotmem.understanding.facts.tags import extract_tags, tag_spans, tags_within
from tests.conversation import remember, said
from tests.tables import tables

CASES = tables(__file__)


async def test_memories_are_tagged_and_classified(memory: Memory) -> None:
    await remember(
        memory, "I bought a red kayak last week.", "Please always answer in short sentences."
    )
    tags = [json.loads(line).get("found_tags") async for line in memory.export("ana")]
    assert ["kayak"] in tags
    filed = {known.category: known for known in await memory.memories("ana")}
    assert filed[Category.SYSTEM].kind is Kind.RULE


async def test_tags_are_deleted_with_their_text(memory: Memory) -> None:
    await remember(memory, "I bought a bicycle last week.")
    stored = await memory.store_memory(
        "My bike has a flat tyre.", user_id="ana", context={"note": "kept apart"}
    )
    await optimize_tags(memory, "ana", OptimizeTagsArguments(unused_days=36_500))
    again = await memory.store_memory("The bike needs a new chain.", user_id="ana")
    assert again.success and stored.success
    await memory.forget(user_id="ana", session_id="monday")
    left = (await memory_stats(memory, "ana", NoArguments())).tags
    assert "bicycle" not in left and "bike" in left


@pytest.mark.parametrize(("text", "tags"), CASES["tags_are_words"])
def test_tags_are_words(language: Language, text: str, tags: list[str]) -> None:
    assert list(extract_tags(language.parse([text])[0])) == tags


async def test_tags_outside_the_statement_are_not_its_tags(
    language: Language,
) -> None:
    text = "I drove the old truck, which my uncle had sold, to Graz."
    spans = tag_spans(language.parse([text])[0])
    assert "uncle" in {term.tag for term in spans}
    assert tags_within(spans, 0, len(text), "Ana drove the old truck to Graz.") == ("truck", "graz")
    assert tags_within(spans, 0, 21, "Ana drove the old truck.") == ("truck",)


async def test_a_noun_is_shown_once_a_second_memory_has_it(memory: Memory) -> None:
    await remember(memory, "I bought a red kayak last week.")
    assert (await memory_stats(memory, "ana", NoArguments())).tags == {}
    assert (await optimize_tags(memory, "ana", OptimizeTagsArguments())).archived == 1
    await remember(memory, said("I love my kayak.", session="tuesday", minutes=60))
    assert (await memory_stats(memory, "ana", NoArguments())).tags == {"kayak": 2}
    await memory.forget(user_id="ana", session_id="tuesday")
    assert (await memory_stats(memory, "ana", NoArguments())).tags == {}


async def test_a_given_tag_and_a_circumstance_are_shown_at_once(memory: Memory) -> None:
    await memory.store_memory("The kayak is overdue.", user_id="ana", context={"tags": ["Boats"]})
    tags = (await memory_stats(memory, "ana", NoArguments())).tags
    assert tags == {"boats": 1, "urgent": 1}


async def test_spellings_of_a_tag_are_one_tag(memory: Memory) -> None:
    for text in ("The ice cream is in the freezer.", "We love ice-cream cake.", "Cream is sour."):
        await memory.store_memory(text, user_id="ana")
    assert (await memory_stats(memory, "ana", NoArguments())).tags == {"ice cream": 2}


async def test_a_compound_is_filed_under_its_last_word_if_that_is_a_tag(memory: Memory) -> None:
    await memory.store_memory("The recipe is in a drawer.", user_id="ana")
    stored = await memory.store_memory("My soup recipe came from Rui.", user_id="ana")
    assert "soup recipe" in stored.analysis.tags
    assert (await memory_stats(memory, "ana", NoArguments())).tags == {"recipe": 2}


def test_nouns_and_full_names_are_tags(language: Language) -> None:
    doc = language.parse(
        ["My pottery classes in New York, which I pay for on Monday, are my favourite thing."]
    )[0]
    assert [term.tag for term in tag_spans(doc)] == ["pottery class", "pottery", "new york"]


def test_a_tag_of_an_earlier_memory_is_reused() -> None:
    assert reused([("dog", "walk"), ("dog",), ("puppy", "walk")]) == 2
    assert reused([("dog", "dog")]) == 0
