"""edit_memory: changes of text can be undone; classification and validity are overridden."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hotmem import InvalidInput, Memory
from hotmem.tools.editing import EditArguments, EditResult, edit_memory, edited_value
from hotmem.tools.maintenance import (
    MergeArguments,
    NoArguments,
    memory_stats,
    merge_memories,
)
from hotmem.tools.registry import tool
from hotmem.types import Category, DecisionAction, StoredMemory
from tests.conversation import decisions, remember, said, undo

PAOLA, POTOLA = "Ana's dog is called Paola.", "Ana's dog is called Potola."


async def dog(memory: Memory) -> StoredMemory:
    """A memory after a misheard turn of Ana."""
    await remember(memory, said("My dog is called Paola.", name="t1"))
    (known,) = await memory.memories("ana")
    assert known.text == PAOLA
    return known


async def texts(memory: Memory, *, past: bool = False) -> list[str]:
    return [one.text for one in await memory.memories("ana", past=past)]


async def edited(memory: Memory, **changes: object) -> EditResult:
    return await edit_memory(memory, "ana", EditArguments(**changes))  # type: ignore[arg-type]


async def test_new_text_replaces_the_old(memory: Memory) -> None:
    known = await dog(memory)
    outcome = await edited(memory, id=known.id, content=POTOLA)
    assert outcome.changed == ("content",)
    assert outcome.id != known.id
    assert await texts(memory) == [POTOLA]
    new = (await memory.memories("ana"))[0]
    assert (new.subject, new.relation, new.object, new.turn_ids) == (
        known.subject,
        known.relation,
        "Potola",
        ("t1",),
    )
    block = await memory.recall("What's my dog called?", user_id="ana")
    assert POTOLA in block.text


LEFT = "I don't live in Ponto any more, I live in Braga."


async def test_a_later_turn_still_replaces_an_edited_memory(memory: Memory) -> None:
    await remember(memory, "I live in Porto.")
    await edited(memory, id=(await memory.memories("ana"))[0].id, content="Ana lives in Ponto.")
    await remember(memory, said(LEFT, session="tuesday", minutes=1440))
    assert await texts(memory) == ["Ana does not live in Ponto any more, Ana lives in Braga."]


async def test_a_later_edit_is_undone_first(memory: Memory) -> None:
    known = await dog(memory)
    first = await edited(memory, id=known.id, content=POTOLA)
    await edited(memory, id=first.id, content="Ana's dog is called Pippa.")
    later, earlier = await decisions(memory, DecisionAction.EDITED)
    with pytest.raises(InvalidInput, match="changed again"):
        await undo(memory, earlier.id)
    await undo(memory, later.id)
    await undo(memory, earlier.id)
    assert await texts(memory, past=True) == [PAOLA]


async def test_deleting_an_edited_memory_deletes_its_previous_text(
    memory: Memory, database: Path
) -> None:
    noted = await memory.store_memory("The Quimper cottage has a leaking roof.", user_id="ana")
    outcome = await edited(memory, id=noted.id, content="The Zeebrugge cottage has a leaking roof.")
    assert (await memory.forget(user_id="ana", memory_id=outcome.id)).memories == 2
    await memory.close()
    left = await asyncio.to_thread(lambda: database.read_bytes().lower())
    assert b"quimper" not in left
    assert b"zeebrugge" not in left


async def test_classification_validity_and_tags_are_overridden(memory: Memory) -> None:
    noted = await memory.store_memory(
        "The boiler's serial number is 44 B 19.", user_id="ana", context={"tags": ["cellar"]}
    )
    outcome = await edited(
        memory,
        id=noted.id,
        category=Category.SYSTEM,
        importance=5,
        tags=("Boiler",),
        note="on the label",
        holds=False,
    )
    assert outcome == EditResult(
        noted.id, ("category", "importance", "note", "valid_until", "tags")
    )
    assert await texts(memory) == []
    stats = await memory_stats(memory, "ana", NoArguments())
    assert (dict(stats.by_category), dict(stats.by_importance), dict(stats.tags)) == (
        {"system": 1},
        {"5": 1},
        {"boiler": 1},
    )
    reason = (await decisions(memory))[0].reason
    assert (
        "importance" in reason
        and "→ 5" in reason
        and "cellar" not in reason
        and "label" not in reason
    )
    await edited(memory, id=noted.id, holds=True)
    assert len(await texts(memory)) == 1
    await edited(memory, id=noted.id, expires_at=datetime.now(UTC) + timedelta(days=3))
    assert len(await texts(memory)) == 1
    assert (
        await edited(
            memory,
            id=noted.id,
            content="The boiler's serial number is 44 B 19.",
            note="on the label",
        )
    ).changed == ()


async def test_a_memory_that_an_edit_replaced_is_not_changed(memory: Memory) -> None:
    known = await dog(memory)
    new = await edited(memory, id=known.id, content=POTOLA)
    for changes in ({"content": "Ana's dog is called Rex."}, {"holds": True}, {"importance": 5}):
        with pytest.raises(InvalidInput, match=f"was replaced by '{new.id[:12]}'. Change that one"):
            await edited(memory, id=known.id, **changes)
    assert sorted(await texts(memory, past=True)) == [PAOLA, POTOLA]
    decision = (await decisions(memory))[0]
    await tool("undo_decision").call(memory, "ana", {"decision": decision.id})
    await edited(memory, id=known.id, content="Ana's dog is called Rex.")
    assert await texts(memory) == ["Ana's dog is called Rex."]


async def test_invalid_changes_are_refused(memory: Memory) -> None:
    first = await memory.store_memory("I drive a grey Skoda Octavia.", user_id="ana")
    second = await memory.store_memory(
        "My own vehicle is one of those Octavias, grey.", user_id="ana"
    )
    with pytest.raises(InvalidInput, match="not the id of a memory"):
        await edit_memory(memory, "ben", EditArguments(id=first.id, content="Nothing."))
    with pytest.raises(InvalidInput, match="both set the validity"):
        await edited(memory, id=first.id, holds=True, expires_at=datetime.now(UTC))
    with pytest.raises(InvalidInput, match="importance is 9"):
        await tool("edit_memory").call(memory, "ana", {"id": first.id, "importance": 9})
    with pytest.raises(InvalidInput, match="content"):
        await edited(memory, id=first.id, content=" ")
    await merge_memories(memory, "ana", MergeArguments(into=first.id, ids=(second.id,)))
    with pytest.raises(InvalidInput, match="not the id of a memory"):
        await edited(memory, id=second.id, importance=1)


@pytest.mark.parametrize(
    ("text", "value", "changed", "found"),
    [
        (PAOLA, "Paola", POTOLA, "Potola"),
        (PAOLA, "Paola", "Ana's dog is called Little Paola.", "Little Paola"),
        (PAOLA, "Paola", "Ana's cat is called Paola.", ""),
        (PAOLA, "Paola", "Ana's dog is called .", ""),
        (PAOLA, "", POTOLA, ""),
        (PAOLA, "Rex", POTOLA, ""),
        ("Ana likes jazz.", "jazz", "Ana likes jazz", ""),
    ],
)
def test_the_value_in_edited_text(text: str, value: str, changed: str, found: str) -> None:
    assert edited_value(text, value, changed) == found
