"""Maintenance tools: statistics, timeline, merges, decisions, validation and backup."""

import asyncio
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from hotmem import InvalidInput, Memory
from hotmem.consolidation.tagging import consolidate_tags, same_meaning
from hotmem.operations.requests import checked
from hotmem.storage.sqlite.connection import connect
from hotmem.tools.editing import OptimizeTagsArguments, optimize_tags
from hotmem.tools.files import BackupArguments, backup_restore
from hotmem.tools.maintenance import (
    DecisionsArguments,
    MergeArguments,
    NoArguments,
    TimelineArguments,
    memory_decisions,
    memory_health,
    memory_stats,
    memory_timeline,
    merge_memories,
    repair_index,
    validate_storage,
)
from hotmem.tools.registry import tool
from hotmem.types import TagUse
from tests.conversation import decisions, models, remember, said, undo
from tests.tables import tables

CASES = tables(__file__)

CAR, SAME_CAR = "I drive a grey Skoda Octavia.", "My own vehicle is one of those Octavias, grey."


async def tell(memory: Memory) -> None:
    """A session in March, one in April, and a stored statement."""
    await remember(
        memory,
        "My dog is called Potola.",
        said("Potola can swim now.", session="april", minutes=60 * 24 * 40),
        end="monday",
    )
    await memory.store_memory(
        CAR, user_id="ana", context={"tags": ["car"], "category": "contexts", "importance": 4}
    )


async def two_cars(memory: Memory) -> tuple[str, str]:
    """Return the IDs of two memories with the same meaning."""
    first = await memory.store_memory(CAR, user_id="ana")
    second = await memory.store_memory(SAME_CAR, user_id="ana")
    assert not second.merged
    return first.id, second.id


async def contents(memory: Memory) -> set[str]:
    """Return the results of a search for the car."""
    found = await memory.search_memory(
        "grey Octavia", user_id="ana", options={"min_relevance": 0.0}
    )
    return {one.content for one in found.results}


async def test_counts(memory: Memory) -> None:
    await tell(memory)
    await memory.remember(said("Somebody else's words.", user="ben"))
    stats = await memory_stats(memory, "ana", NoArguments())
    assert (
        stats.turns,
        stats.sessions,
        stats.stored,
        stats.waiting,
        stats.merged,
        stats.summaries,
    ) == (2, 2, 1, 0, 0, 1)
    assert (
        stats.memories
        == sum(stats.by_category.values())
        == sum(stats.by_kind.values())
        == sum(stats.by_importance.values())
    )
    assert stats.tags["car"] == 1
    assert (
        stats.first_said is not None
        and stats.last_said is not None
        and (stats.last_said - stats.first_said).days == 40
    )
    assert stats.file_bytes > 0
    assert (await memory_stats(memory, "nobody", NoArguments())).turns == 0


async def test_periods(memory: Memory) -> None:
    await tell(memory)
    march, april, *_ = (await memory_timeline(memory, "ana", TimelineArguments())).periods
    assert (march.period, march.turns, march.memories) == (
        "2026-03",
        1,
        ("Ana's dog is called Potola.",),
    )
    assert (april.period, april.turns) == ("2026-04", 1)
    days = (
        await memory_timeline(memory, "ana", TimelineArguments(by="day", about="potola"))
    ).periods
    assert [day.period for day in days] == ["2026-03-02", "2026-04-11"]
    assert (await memory_timeline(memory, "ana", TimelineArguments(about="Rui"))).periods == ()


async def test_merged_memories_are_found_once_and_can_be_restored(memory: Memory) -> None:
    kept, gone = await two_cars(memory)
    assert await contents(memory) == {CAR, SAME_CAR}
    merged = await merge_memories(
        memory, "ana", MergeArguments(into=kept, ids=(gone,), reason="the same car")
    )
    assert await contents(memory) == {CAR}
    assert "Octavias" not in (await memory.recall("Which car do I drive?", user_id="ana")).text
    assert [(one.text, one.confirmations) for one in await memory.memories("ana")] == [(CAR, 1)]
    latest = (await decisions(memory))[0]
    assert (latest.id, latest.action, latest.reason, latest.memory_ids, latest.into) == (
        merged.decision,
        "merged",
        "the same car",
        (gone,),
        kept,
    )
    assert (await undo(memory, merged.decision)).restored == 1
    assert await contents(memory) == {CAR, SAME_CAR}
    assert {one.confirmations for one in await memory.memories("ana")} == {0}
    with pytest.raises(InvalidInput, match="was undone on"):
        await undo(memory, merged.decision)
    assert (await validate_storage(memory, "ana", NoArguments())).sound


async def test_a_merge_needs_memories_of_the_user(memory: Memory) -> None:
    kept, gone = await two_cars(memory)
    other = (await memory.store_memory("I have a boat.", user_id="ben")).id
    for into, ids in ((kept, (other,)), (other, (kept,)), (kept, (kept,)), (kept, ("nothing",))):
        with pytest.raises(InvalidInput):
            await merge_memories(memory, "ana", MergeArguments(into=into, ids=ids))
    decision = (
        await merge_memories(memory, "ana", MergeArguments(into=kept, ids=(gone,)))
    ).decision
    with pytest.raises(InvalidInput, match="cannot be undone"):
        await undo(memory, decision, "ben")
    with pytest.raises(InvalidInput, match="not the id of a memory"):
        await merge_memories(memory, "ana", MergeArguments(into=kept, ids=(gone,)))
    assert await contents(memory) == {CAR}


async def test_deleting_a_memory_deletes_those_merged_into_it(
    database: Path, memory: Memory
) -> None:
    kept, gone = await two_cars(memory)
    await merge_memories(memory, "ana", MergeArguments(into=kept, ids=(gone,)))
    await memory.forget(user_id="ana", memory_id=kept)
    await memory.close()
    held = (await asyncio.to_thread(database.read_bytes)).lower()
    assert b"octavia" not in held and b"skoda" not in held


async def test_deleting_a_session_restores_memories_merged_into_its_own(memory: Memory) -> None:
    await remember(memory, said("My dog is called Potola.", session="one"))
    (spoken,) = await memory.memories("ana")
    noted = await memory.store_memory(
        "Potola is the name of the dog.", user_id="ana", context={"note": "from the vet"}
    )
    await merge_memories(memory, "ana", MergeArguments(into=spoken.id, ids=(noted.id,)))
    await memory.forget(user_id="ana", session_id="one")
    assert [one.id for one in await memory.memories("ana")] == [noted.id]
    assert (await validate_storage(memory, "ana", NoArguments())).sound


async def test_every_decision_has_its_reason(memory: Memory) -> None:
    await memory.store_memory(CAR, user_id="ana", context={"category": "contexts"})
    await memory.store_memory(CAR, user_id="ana")
    confirmed, filed = await decisions(memory)
    assert (
        filed.action == "filed" and "contexts" in filed.reason and "category given" in filed.reason
    )
    assert confirmed.action == "confirmed" and "% sure" in confirmed.reason
    assert len((await memory_decisions(memory, "ana", DecisionsArguments(limit=1))).decisions) == 1


async def test_equivalent_tags_are_merged_and_can_be_restored(memory: Memory) -> None:
    for number, tag in enumerate(
        (
            "holiday",
            "holidays",
            "summer holiday",
            "car insurance",
            "insurance for the car",
            "recipe",
        )
    ):
        await memory.store_memory(
            f"Note number {number} is kept here.",
            user_id="ana",
            context={"tags": [tag], "note": str(number)},
        )
    before = (await memory_stats(memory, "ana", NoArguments())).tags
    done = await optimize_tags(memory, "ana", OptimizeTagsArguments())
    after = (await memory_stats(memory, "ana", NoArguments())).tags
    assert {
        "holidays": "holiday",
        "car insurance": "insurance for the car",
    }.items() <= done.merged.items()
    assert len(after) == len(before) - len(done.merged) and after["holiday"] == 2
    again = await memory.store_memory(
        "The last note.", user_id="ana", context={"tags": ["holidays"]}
    )
    assert "holidays" in again.analysis.tags
    assert (await memory_stats(memory, "ana", NoArguments())).tags["holiday"] == 3
    assert (await undo(memory, done.decision)).restored == len(done.merged) + done.archived
    assert set((await memory_stats(memory, "ana", NoArguments())).tags) >= set(before)


def test_a_given_tag_is_kept() -> None:
    tags = [TagUse(1, "frontend", 5), TagUse(2, "Front end", 1, given=True)]
    rows = np.eye(2, dtype=np.float32)
    assert consolidate_tags(tags, rows) == [(tags[0], tags[1])]


def test_the_longer_tag_is_kept() -> None:
    tags = [
        TagUse(1, "holidays", 5),
        TagUse(2, "summer break", 1),
        TagUse(3, "recipe", 9),
        TagUse(4, "far", 1),
    ]
    rows = np.array(
        [[1, 0, 0], [0.9, np.sqrt(1 - 0.81), 0], [0, 0, 1], [0.75, -np.sqrt(1 - 0.5625), 0]],
        dtype=np.float32,
    )
    assert consolidate_tags(tags, rows) == [(tags[0], tags[1])]
    assert consolidate_tags([], np.empty((0, 3), dtype=np.float32)) == []


@pytest.mark.parametrize(("one", "other", "cosine", "same"), CASES["tags_of_different_things"])
def test_tags_of_different_things_are_not_merged(
    one: str, other: str, cosine: float, same: bool
) -> None:
    assert same_meaning(one, other, cosine) is same
    assert same_meaning(other, one, cosine) is same


async def test_a_damaged_index_is_reported_and_repaired(database: Path, memory: Memory) -> None:
    await tell(memory)
    before = (await memory.recall("What is my dog called?", user_id="ana")).text
    assert (await validate_storage(memory, "ana", NoArguments())).sound
    await memory.close()
    with closing(connect(database)) as conn:
        conn.execute("DELETE FROM passage_entries")
        conn.execute("UPDATE memory_entries SET bits = NULL")
        conn.execute(
            "INSERT INTO summary_entries (user_key, id, session, length) VALUES (1, 99, 99, 0)"
        )
    await memory.start()
    report = await validate_storage(memory, "ana", NoArguments())
    assert not report.sound
    assert {fault.what for fault in report.faults} == {
        "passages that no search finds",
        "memories not found by their meaning",
        "summaries in the index that are not there any more",
    }
    repaired = await repair_index(memory, "ana", NoArguments())
    assert repaired.entries > 3 and repaired.faults == ()
    assert (await memory.recall("What is my dog called?", user_id="ana")).text == before


DAMAGE = {
    "references: rows that refer to rows that are gone": """
        UPDATE memories SET superseded_by = 999 WHERE id = 1;
        INSERT INTO sources VALUES (1, 999, 0, 5)""",
    "values: values of memories that cannot be read": "UPDATE memories SET vector = x'0102'",
    "values: values of passages that cannot be read": "UPDATE passages SET vector = 'text'",
    "values: values of passage_signs that cannot be read": """
        UPDATE passage_signs SET signs = x'01'""",
    "values: values of decisions that cannot be read": "UPDATE decisions SET changes = '{x'",
    "values: values of summaries that cannot be read": "UPDATE summaries SET topics = 'x'",
    "index: passages that no search finds": "UPDATE passage_entries SET session = 2",
    "index: passages not found by their words": "DELETE FROM passage_words WHERE rowid = 1",
    "index: memories in the full-text index that are not there any more": """
        INSERT INTO memory_words (rowid, terms) VALUES (999, 'u1xdog')""",
    "index: passages not found by their meaning": "UPDATE passage_entries SET bits = x'01'",
}
"""What makes each fault that can be mended."""

LOST = {
    "rows of memories with a wrong type": "UPDATE memories SET said_at = 'x'",
    "rows of memories with an unknown kind": "UPDATE memories SET kind = 'x'",
}


async def damage(memory: Memory, database: Path, statements: str) -> set[str]:
    """Damage a file with these statements; return its faults."""
    await memory.close()
    with closing(connect(database)) as conn:
        conn.execute("PRAGMA foreign_keys = OFF")
        for statement in statements.split(";"):
            conn.execute(statement, can_cache=False)
    await memory.start()
    report = await validate_storage(memory, "ana", NoArguments())
    return {f"{fault.where}: {fault.what}" for fault in report.faults}


@pytest.mark.parametrize("fault", DAMAGE)
async def test_damaged_rows_are_reported_and_mended(
    database: Path, memory: Memory, fault: str
) -> None:
    await tell(memory)
    kept = await memory.store_memory("My dog is a terrier.", user_id="ana")
    await tool("edit_memory").call(memory, "ana", {"id": kept.id, "importance": 5})
    before = (await memory.recall("What is my dog called?", user_id="ana")).text
    assert fault in await damage(memory, database, DAMAGE[fault])
    repaired = await repair_index(memory, "ana", NoArguments())
    assert repaired.faults == ()
    await memory.settle()
    assert (await validate_storage(memory, "ana", NoArguments())).sound
    assert (await memory.recall("What is my dog called?", user_id="ana")).text == before
    assert len([line async for line in memory.export("ana")]) > 5
    assert (await memory.forget(user_id="ana", entity="Potola")).turns == 2


@pytest.mark.parametrize("fault", LOST)
async def test_rows_that_cannot_be_mended_are_reported(
    database: Path, memory: Memory, fault: str
) -> None:
    await tell(memory)
    assert await damage(memory, database, LOST[fault]) == {f"rows: {fault}"}


async def test_a_backup_during_writes_is_complete(tmp_path: Path, memory: Memory) -> None:
    await tell(memory)
    target = tmp_path / "copy.db"
    asked = BackupArguments(action="backup", file=str(target))
    progress: list[tuple[int, int]] = []

    async def talk() -> None:
        for number in range(30):
            await memory.remember(
                said(
                    f"This is sentence number {number}.", session="friday", minutes=90_000 + number
                )
            )

    await asyncio.gather(
        talk(),
        backup_restore(memory, "ana", asked, lambda left, whole: progress.append((left, whole))),
    )
    assert progress and progress[-1][0] == 0
    async with Memory.open(target, **models(memory)) as copy:
        assert "Potola" in (await copy.recall("What is my dog called?", user_id="ana")).text
        assert (await validate_storage(copy, "ana", NoArguments())).sound
    with pytest.raises(InvalidInput, match="exists"):
        await backup_restore(memory, "ana", asked)


async def test_health_is_the_weighted_sum_of_its_measures(memory: Memory) -> None:
    await tell(memory)
    health = memory_health(await memory_stats(memory, "ana", NoArguments()))
    assert health.score == pytest.approx(
        sum(part.share * part.weight for part in health.parts.values())
    )
    assert sum(part.weight for part in health.parts.values()) == pytest.approx(1)
    assert health.parts["summarised"].share == 0.5
    assert 0 <= memory_health(await memory_stats(memory, "nobody", NoArguments())).score <= 1


async def test_discovery_lists_every_tool_once(memory: Memory) -> None:
    answer = await tool("discover_memory_tools").call(memory, "ana", {})
    assert set(answer["tools"]) == {"memory", "maintenance", "analysis", "migration", "debugging"}
    assert (
        "search_memory" in answer["tools"]["memory"]
        and "repair_index" in answer["tools"]["debugging"]
    )
    assert set(answer["health"]) == {"score", "parts"} and answer["advice"] == []


@pytest.mark.parametrize(
    ("kind", "given", "named"),
    [
        (TimelineArguments, {"by": "week"}, "'day', 'month' or 'year'"),
        (DecisionsArguments, {"limit": 0}, "limit is 0"),
        (MergeArguments, {"into": "a", "ids": []}, "ids is"),
        (MergeArguments, {"ids": ["a"]}, "into"),
        (NoArguments, {"all": True}, "all is unknown"),
    ],
)
def test_invalid_arguments_are_named(kind: type, given: dict[str, object], named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        checked(kind, given)
