"""Forgotten text is not written back, by usage of an older block or by an older export."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hotmem import Memory, Turn
from hotmem.portability import importer
from hotmem.storage import queries
from hotmem.tools.files import ImportArguments, import_memories
from tests.conversation import START, file_of, models, remember, said, turns_told, user_of

SECRET = "Xylomander"


async def _told(memory: Memory) -> None:
    lines = (
        ("My dog is called {}.", "one"),
        ("I live in Porto.", "one"),
        ("We decided to visit {} in spring because of the flowers.", "two"),
        ("We decided to paint the kitchen yellow because of the light.", "two"),
    )
    for number, (line, session) in enumerate(lines):
        await memory.remember(
            said(line.format(SECRET), session=session, minutes=number, name=f"t{number}")
        )
    for session in ("one", "two"):
        await memory.end_session(user_id="ana", session_id=session)
    await memory.settle()


async def _exported(memory: Memory, path: Path) -> Path:
    await asyncio.to_thread(path.write_text, await _known(memory), "utf-8")
    return path


async def _known(memory: Memory) -> str:
    return "\n".join([line async for line in memory.export("ana")])


async def _texts(memory: Memory) -> list[str]:
    """Return the text of turns and memories."""
    records = [json.loads(line) async for line in memory.export("ana")]
    return sorted(record["text"] for record in records if record["type"] in ("turn", "memory"))


async def test_usage_of_a_block_made_before_forgetting_is_not_recorded(memory: Memory) -> None:
    await _told(memory)
    before = await memory.recall(
        f"What do you know of {SECRET}?", user_id="ana", at=START + timedelta(days=1)
    )
    opened = await memory.opening(user_id="ana", at=START + timedelta(days=1))
    assert before.items
    await memory.forget(user_id="ana", turn_ids=["t0", "t2"])
    memory.runtime.suppression.speaks_of(
        SECRET, user_id="ana"
    )  # nothing withholds the words any more: the record alone is what keeps them out
    for block in (before, opened):
        await memory.feedback(block, reply=" ".join(item.text for item in block.items))
    assert SECRET not in await _known(memory)
    assert '"type": "question"' not in await _known(memory)
    after = await memory.recall("Where do I live?", user_id="ana", at=START + timedelta(days=1))
    await memory.feedback(after, reply="You live in Porto.")
    assert '"type": "question"' in await _known(memory), "what is asked afterwards is recorded"


async def test_a_late_block_is_recorded_unless_something_was_forgotten_since(
    memory: Memory,
) -> None:
    await _told(memory)
    await memory.forget(user_id="ana", session_id="two")
    for asked, then in (("Where do I live?", "nothing"), (f"Where is {SECRET}?", "forgets")):
        block = await memory.recall(asked, user_id="ana", deadline_ms=0.0)
        assert block.trace.late
        if then == "forgets":
            await memory.forget(user_id="ana", session_id="one")
            memory.runtime.suppression.speaks_of(SECRET, user_id="ana")
        await memory.feedback(block, reply="I do not know.")
    assert (await memory.learning.quality("ana")).total().late == 1
    assert SECRET not in await _known(memory)


async def test_usage_of_a_deleted_user_is_not_recorded_for_a_new_user_of_the_same_id(
    memory: Memory,
) -> None:
    await _told(memory)
    before = await memory.recall(
        f"What do you know of {SECRET}?", user_id="ana", at=START + timedelta(days=1)
    )
    await memory.forget(user_id="ana", everything=True)
    await memory.remember(said("I like walnuts."))
    memory.runtime.suppression.speaks_of(SECRET, user_id="ana")
    await memory.feedback(before, reply=before.items[0].text)
    assert SECRET not in await _known(memory)


async def test_usage_of_other_users_blocks_is_still_recorded(memory: Memory) -> None:
    await _told(memory)
    await remember(memory, said("I live in Utrecht.", user="ben"))
    block = await memory.recall("Where do I live?", user_id="ben", at=START + timedelta(days=1))
    await memory.forget(user_id="ana", entity=SECRET)
    assert (await memory.feedback(block, reply="You live in Utrecht.")).used
    assert [line async for line in memory.export("ben") if '"type": "question"' in line]


async def test_a_forgotten_name_is_not_kept_as_that_of_the_user(memory: Memory) -> None:
    await memory.set_user_name("ana", SECRET)
    await memory.remember(said(f"I am {SECRET}.", speaker=SECRET))
    await memory.forget(user_id="ana", entity=SECRET)
    assert SECRET.lower() not in str(file_of(memory).read_bytes()).lower()


async def test_importing_an_older_export_does_not_restore_forgotten_text(
    memory: Memory, tmp_path: Path
) -> None:
    await _told(memory)
    file = await _exported(memory, tmp_path / "export.jsonl")
    receipt = await memory.forget(user_id="ana", entity=SECRET)
    taken = await import_memories(memory, "ana", ImportArguments(file=str(file)))
    assert (taken.turns, taken.memories) == (0, 0)
    assert sum(taken.left_out.values()) == receipt.turns + receipt.memories
    assert "with_forgotten" in next(iter(taken.left_out))
    await memory.settle()
    assert SECRET not in await _known(memory) and "yellow" in await _known(memory)
    summary = await memory.lookup.summary(user_id="ana", session_id="two")
    assert summary is not None and SECRET not in repr(summary)
    assert not await memory.runtime.database.read_all(queries.maintenance.faults)


async def test_forgotten_text_can_be_imported_on_request(memory: Memory, tmp_path: Path) -> None:
    await _told(memory)
    before = await _texts(memory)
    file = await _exported(memory, tmp_path / "export.jsonl")
    receipt = await memory.forget(user_id="ana", entity=SECRET)
    taken = await memory.import_records(file, with_forgotten=True)
    assert (taken.turns, taken.memories, taken.forgotten) == (receipt.turns, receipt.memories, 0)
    await memory.settle()
    assert await _texts(memory) == before
    await memory.forget(user_id="ana", entity=SECRET)
    assert (await memory.import_records(file)).forgotten == receipt.turns + receipt.memories, (
        "it was forgotten again"
    )


async def test_a_deleted_user_is_not_restored_by_an_import(memory: Memory, tmp_path: Path) -> None:
    await _told(memory)
    file = await _exported(memory, tmp_path / "export.jsonl")
    await memory.forget(user_id="ana", everything=True)
    taken = await memory.import_records(file)
    assert (taken.turns, taken.memories) == (0, 0) and taken.forgotten >= 4
    assert await turns_told(memory) == []
    other = tmp_path / "other.db"
    async with Memory.open(other, **models(memory)) as elsewhere:
        assert (await elsewhere.import_records(file)).turns == 4, "another file knows nothing of it"


async def test_repeating_an_undone_import_does_not_restore_forgotten_text(
    memory: Memory, tmp_path: Path
) -> None:
    await _told(memory)
    file = await _exported(memory, tmp_path / "export.jsonl")
    await memory.forget(user_id="ana", everything=True)
    await memory.import_records(file, with_forgotten=True)
    await memory.settle()
    await memory.forget(user_id="ana", entity=SECRET)
    user = await user_of(memory.runtime.database)
    (done,) = [
        one
        for one in await memory.runtime.database.read(queries.decisions.of_user, user, -1)
        if one.action == "imported"
    ]
    await memory.runtime.database.write(queries.undoing.undo, user, done.id, START)
    await importer.revert_imports(memory.runtime.storage, memory.runtime.priority)
    await memory.import_records(file)
    assert SECRET not in await _known(memory) and "Porto" in await _known(memory)


async def test_a_block_read_before_forgetting_is_outdated(
    memory: Memory,
) -> None:
    await remember(
        memory,
        Turn("ana", "monday", "user", "My dog is called Rocky.", datetime(2026, 3, 2, tzinfo=UTC)),
    )
    before = await memory.recall("What is my dog called?", user_id="ana")
    assert "Rocky" in before.text and memory.runtime.suppression.current(before) is before
    await memory.forget(user_id="ana", entity="Rocky")
    assert memory.runtime.suppression.current(before) is None
    after = await memory.recall("What is my dog called?", user_id="ana")
    assert memory.runtime.suppression.current(after) is after


@pytest.mark.parametrize(
    ("told", "left"),
    [
        (("I moved to Oban with Marco last week.", "I live in Oban now."), ["lives in Oban"]),
        (("My dog is called Potola.", "No, the dog is called Patola."), ["called Patola"]),
        (("I live in Oban.", "I live in Oban.", "I moved to Leith."), ["in Oban", "to Leith"]),
    ],
)
async def test_what_repeats_a_forgotten_turn_is_known_by_its_own_words(
    memory: Memory, told: tuple[str, ...], left: list[str]
) -> None:
    for number, text in enumerate(told):
        await memory.remember(said(text, minutes=30 * number, name=f"t{number}"))
        await memory.settle()
    await memory.forget(user_id="ana", turn_ids=["t0"])
    await memory.settle()
    known = await memory.memories("ana", past=True)
    assert all(one.turn_ids and "t0" not in one.turn_ids for one in known)
    assert len(known) == len(left)
    assert all(any(words in one.text for one in known) for words in left), known
