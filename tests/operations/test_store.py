"""Stored statements: classified, tagged, compared, found at once, forgotten as any other."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hotmem import InvalidInput, Memory
from hotmem.operations.requests import StoreContext
from hotmem.operations.results import as_json
from hotmem.types import Category, Kind
from tests.conversation import said
from tests.tables import tables

CASES = tables(__file__)

LATER = datetime.now(UTC) + timedelta(days=30)


async def test_a_stored_statement_is_in_the_next_block(memory: Memory) -> None:
    stored = await memory.store_memory("The boiler's serial number is 44 B 19.", user_id="ana")
    assert stored.success and stored.id and not stored.merged
    block = await memory.recall("What is the serial number of the boiler?", user_id="ana")
    assert "44 B 19" in block.text
    assert [item.memory_id for item in block.items] == [stored.id]
    assert block.items[0].turn_ids == ()


async def test_given_metadata_prevails(memory: Memory) -> None:
    context = StoreContext(
        category=Category.SYSTEM,
        kind=Kind.RULE,
        importance=5,
        tags=("Voice ",),
        source="settings page",
        note="asked twice",
    )
    stored = await memory.store_memory(
        "The dentist is on Tuesday at nine.", user_id="ana", context=context
    )
    assert (stored.analysis.category, stored.analysis.kind, stored.analysis.importance) == (
        Category.SYSTEM,
        Kind.RULE,
        5,
    )
    assert "voice" in stored.analysis.tags
    assert stored.analysis.confidence == 1.0 and stored.analysis.sure


async def test_an_equivalent_statement_confirms_the_memory(memory: Memory) -> None:
    first = await memory.store_memory(
        "The wifi password at the cottage is bluefinch77.", user_id="ana"
    )
    again = await memory.store_memory(
        "For the cottage, the wifi password is bluefinch77.", user_id="ana"
    )
    assert again.merged and again.id == first.id
    (known,) = await memory.memories("ana")
    assert known.confirmations == 1


async def test_a_statement_with_metadata_is_not_merged(
    memory: Memory,
) -> None:
    first = await memory.store_memory("The cottage has no heating.", user_id="ana")
    again = await memory.store_memory(
        "The cottage has no heating.", user_id="ana", context={"note": "the landlord denies it"}
    )
    assert not again.merged
    assert [one.id for one in again.recommendations.suggested_merges] == [first.id]


async def test_a_statement_stored_again_is_no_duplicate_of_itself(memory: Memory) -> None:
    first = await memory.store_memory("The cottage has no heating.", user_id="ana")
    again = await memory.store_memory("The cottage has no heating.", user_id="ana")
    assert (again.merged, again.id) == (True, first.id)
    assert again.recommendations.suggested_merges == ()


async def test_a_request_about_somebody_known_gets_a_block(memory: Memory) -> None:
    await memory.store_memory("My cousin Ilse breeds alpacas.", user_id="ana")
    await memory.settle()
    assert "alpacas" in (await memory.recall("Tell me about Ilse.", user_id="ana")).text
    assert not (await memory.recall("Tell me about Felix.", user_id="ana")).items


async def test_a_tag_of_the_same_meaning_is_replaced(memory: Memory) -> None:
    first = await memory.store_memory("The bicycle needs a chain.", user_id="ana")
    second = await memory.store_memory("My bike has a flat tyre.", user_id="ana")
    assert "bicycle" in first.analysis.tags
    assert "bicycle" in second.analysis.tags and "bike" not in second.analysis.tags
    assert second.recommendations.tag_consolidations == {"bike": "bicycle"}


async def test_similar_statements_are_stored(memory: Memory) -> None:
    await memory.store_memory("Paul owes me fifty euros.", user_id="ana")
    await memory.store_memory("My sister Clara lives in Munich.", user_id="ana")
    for text in ("I owe Lena fifty euros.", "My brother Konrad lives in Munich."):
        assert not (await memory.store_memory(text, user_id="ana")).merged
    assert len(await memory.memories("ana")) == 4


async def test_possible_duplicates_are_suggested(memory: Memory) -> None:
    await memory.store_memory("I drive a grey Skoda Octavia.", user_id="ana")
    stored = await memory.store_memory("The user's car is a grey Skoda Octavia.", user_id="ana")
    assert stored.merged or [one.content for one in stored.recommendations.suggested_merges] == [
        "I drive a grey Skoda Octavia."
    ]


async def test_an_expired_memory_is_not_recalled(memory: Memory) -> None:
    await memory.store_memory(
        "The guest code for the garage is 5512.",
        user_id="ana",
        context={"expires_at": LATER.isoformat()},
    )
    assert (
        "5512"
        in (await memory.recall("What is the guest code for the garage?", user_id="ana")).text
    )
    after = LATER + timedelta(days=1)
    found = await memory.search_memory("guest code garage", user_id="ana", at=after)
    assert found.results == ()
    (expired,) = (
        await memory.search_memory(
            "guest code garage", user_id="ana", options={"include_expired": True}, at=after
        )
    ).results
    assert not expired.holds


async def test_a_stored_statement_is_forgotten_everywhere(database: Path, memory: Memory) -> None:
    stored = await memory.store_memory(
        "The safe opens with Zanzibarquark.",
        user_id="ana",
        context={"tags": ["quarkbox"], "note": "Zanzibarquark!"},
    )
    await memory.forget(user_id="ana", memory_id=stored.id)
    await memory.store_memory("The cellar opens with Quibblemoor.", user_id="ana")
    context = {"note": "Quibblemoor's own", "source": "Quibblemoor", "tags": ["quibblemoor"]}
    await memory.store_memory("It is loud on Fridays.", user_id="ana", context=context)
    block = await memory.recall("What does the cellar open with?", user_id="ana")
    await memory.feedback(block, reply="It opens with Quibblemoor.")
    await memory.forget(user_id="ana", entity="Quibblemoor")
    assert await memory.memories("ana") == []
    await memory.close()
    held = (await asyncio.to_thread(database.read_bytes)).lower()
    assert not [word for word in (b"zanzibarquark", b"quibblemoor", b"quarkbox") if word in held]


async def test_stored_memories_are_isolated_by_user(memory: Memory) -> None:
    await memory.store_memory("The alarm code is 9911.", user_id="ana")
    await memory.remember(said("Hello there.", user="ben"))
    found = (await memory.search_memory("alarm code", user_id="ben")).results
    assert not any("9911" in one.content for one in found)
    assert not (await memory.store_memory("The alarm code is 9911.", user_id="ben")).merged


@pytest.mark.parametrize(("context", "named"), CASES["an_invalid_field_is_named_and_nothing"])
async def test_an_invalid_field_is_named_and_nothing_is_stored(
    memory: Memory, context: dict[str, object], named: str
) -> None:
    with pytest.raises(InvalidInput, match=named):
        await memory.store_memory("My dog is called Potola.", user_id="ana", context=context)
    assert await memory.memories("ana") == []


@pytest.mark.parametrize("content", ["", "  \n", "x" * 5_001, 7])
async def test_invalid_content_is_rejected(memory: Memory, content: str) -> None:
    with pytest.raises(InvalidInput, match="content"):
        await memory.store_memory(content, user_id="ana")


async def test_the_result_as_json_has_the_same_names(memory: Memory) -> None:
    answer = as_json(await memory.store_memory("I can't stand coriander.", user_id="ana"))
    assert set(answer) == {"success", "id", "merged", "analysis", "recommendations"}
    assert {"category", "tags", "importance", "confidence", "concepts"} <= set(answer["analysis"])
    assert set(answer["recommendations"]) == {
        "conflicts",
        "similar_memories",
        "suggested_merges",
        "tag_consolidations",
    }


async def test_another_value_is_not_suggested_for_a_merge(memory: Memory) -> None:
    await memory.store_memory("I take oat milk in my coffee.", user_id="ana")
    stored = await memory.store_memory("I take soy milk in my coffee.", user_id="ana")
    assert not stored.merged
    assert not stored.recommendations.suggested_merges
    assert [one.content for one in stored.recommendations.similar_memories] == [
        "I take oat milk in my coffee."
    ]
