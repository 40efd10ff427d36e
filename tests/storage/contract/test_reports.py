"""Reading what is stored: statistics, usage, the audit trail, exports, and pages for people."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from hotmem.portability import jsonl
from hotmem.storage import queries
from hotmem.storage.database import Connection, Database
from hotmem.storage.inspection import Inspection, conversations, statements
from hotmem.types import (
    Act,
    Action,
    Actor,
    Category,
    ContextBlock,
    Intent,
    ItemUse,
    Kind,
    Latencies,
    Layer,
    QualityRecord,
    Tally,
    Trace,
    UsageKind,
    UseCount,
    UserKey,
    Weights,
)
from hotmem.types.inspection import Cursor, MemoryFilter
from tests.ranking.statements import QUOTE
from tests.storage.contract.story import NOW, note, say, turn, understand

HOUR: Final = timedelta(hours=1)

TALLY: Final = Tally(turns=1, given=2, used=1, latencies=Latencies(((3, 2), (5, 1))))


def talk(conn: Connection) -> None:
    """Two sessions of two turns, both about a boat called Lira."""
    for user in ("ana", "ben"):
        say(conn, "The Lira leaks.", "Mend her, 100 %.", user=user)
        say(conn, "The LIRA is dry.", "Good.", user=user, session="quay")
        understand(conn, "the Lira", entities=["Lira", "Gustav"])


def block(memory: str, number: int) -> ContextBlock:
    """A block with a memory and a quote of a turn."""
    items = (
        replace(QUOTE, memory_id=memory, turn_ids=("harbour-0",)),
        replace(QUOTE, memory_id=None, turn_ids=("harbour-0", "quay-0")),
    )
    return ContextBlock(
        "", 7, items, Trace(stages={"layers": 1.5}), "ana", "quay", "Lira?", NOW + number * HOUR
    )


async def use(database: Database, user: UserKey) -> str:
    """Record two blocks, the memory of which was used in the second; return the memory's id."""
    memory = await database.write_all(note, "Lira is a boat.", user, tags=["boats"])
    for number, kind in enumerate((UsageKind.UNUSED, UsageKind.REFERENCE)):
        given = block(memory, number)
        uses = (ItemUse(given.items[0], kind, 0.7), ItemUse(given.items[1], UsageKind.UNUSED, 0.0))
        records = [
            QualityRecord(NOW.date(), Intent.FACT, layer, TALLY) for layer in (None, Layer.FACTS)
        ]
        write = queries.quality.record
        assert await database.write(write, user, given, uses, records, interrupted=False)
        assert not await database.write(
            queries.quality.record, user, given, uses, interrupted=False
        )
        if kind is UsageKind.REFERENCE:
            await database.write(queries.memories.record_access, user, [memory], NOW)
    return memory


async def test_usage_of_a_user(database: Database, ana: UserKey, ben: UserKey) -> None:
    await database.write_all(talk)
    memory = await use(database, ana)
    first, second = await database.read(queries.quality.asked, ana, None, None, 9)
    assert (first.given, first.used, second.given, second.used) == (2, 0, 2, 1)
    assert await database.read(queries.quality.asked, ana, None, NOW + HOUR, 9) == [first]
    assert await database.read(queries.quality.asked, ana, None, None, 1) == [second]
    shares = await database.read(queries.quality.shares, ana, None, None, 9)
    assert {by: dict(found) for by, found in shares.items()} == {
        "category": {"contexts": UseCount(2, 1)},
        "kind": {"fact": UseCount(2, 1)},
        "tag": {"boats": UseCount(2, 1)},
        "entity": {"Lira": UseCount(4, 1), "Gustav": UseCount(4, 1)},
    }
    assert list(shares["entity"]) == ["Gustav", "Lira"]
    used, unused, never = await database.read(queries.quality.memories, ana, 9)
    assert [one.id for one in used] == [memory] and never == len(unused) == 1
    assert await database.read(queries.quality.known_names, ana, {"lira", "x"}) == {"lira": "Lira"}
    (found,) = await database.read(queries.quality.recorded, ana)
    assert found[1:2] == ("Lira?",) and found[3] == ("harbour-0",)
    assert await database.read(queries.quality.recorded, ben) == []
    assert await database.read(queries.quality.asked, ben, None, None, 9) == []


async def test_statistics_and_timeline(database: Database, ana: UserKey, ben: UserKey) -> None:
    await database.write_all(talk)
    early = datetime(1969, 12, 31, 23, 59, tzinfo=UTC)
    for number, at in enumerate((early, datetime(1, 1, 1, tzinfo=UTC))):
        said = turn("Long ago.", at=at, name=f"early-{number}")
        assert await database.write_all(queries.turns.add, said, NOW)
    await database.write_all(note, "Lira is a boat.", ana, tags=["boats"])
    stats = await database.read(queries.maintenance.stats, ana)
    assert (stats.turns, stats.sessions, stats.memories, stats.waiting) == (6, 2, 2, 2)
    assert stats.by_category == {"contexts": 2} and stats.tags == {"boats": 1}
    assert stats.file_bytes > 0 and stats.first_said == datetime(1, 1, 1, tzinfo=UTC)
    timeline = queries.maintenance.timeline
    days = await database.read(timeline, ana, "day", None, None, None)
    assert [(one.period, one.turns) for one in days] == [
        ("0001-01-01", 1),
        ("1969-12-31", 1),
        ("2026-06-01", 4),
    ]
    assert days[2].memories == ("Lira is a boat.", "Skipper owns the Lira.")
    (year,) = await database.read(timeline, ana, "year", "LIRA", NOW, NOW + HOUR)
    assert (year.period, year.turns, len(year.memories)) == ("2026", 4, 1)
    assert await database.read(timeline, ben, "month", "heron", None, None) == []


async def test_audit_entries(database: Database, ana: UserKey, ben: UserKey) -> None:
    for number, (user, action) in enumerate(
        ((ana, Action.READ), (ben, Action.READ), (None, Action.BACKUP), (ana, Action.FORGET))
    ):
        at = NOW + number * HOUR
        await database.write_all(
            queries.retention.record, user, Actor.TOOL, Act(action, "x", turns=2), at
        )
    entries = await database.read_all(queries.retention.entries, None, None, None, 9)
    assert [one.user_id for one in entries] == ["ana", None, "ben", "ana"]
    entries = await database.read_all(queries.retention.entries, "ana", NOW + HOUR, None, 9)
    assert [one.act.action for one in entries] == [Action.FORGET] and entries[0].act.turns == 2
    assert len(await database.read_all(queries.retention.entries, None, None, Action.READ, 1)) == 1
    assert await database.read_all(queries.retention.any_before, NOW + HOUR)
    assert await database.write_all(queries.retention.prune, NOW + 2 * HOUR, 1) == 1
    assert await database.write_all(queries.retention.prune, NOW + 2 * HOUR, 9) == 1
    assert not await database.read_all(queries.retention.any_before, NOW + HOUR)


async def test_located_rows(database: Database, ana: UserKey, ben: UserKey) -> None:
    await database.write_all(talk)
    memory = await database.write_all(note, "Lira is a boat.", ana)
    located = queries.job_failures.located
    (found,) = await database.read(located, ana, memory, 9)
    assert found.content == "Lira is a boat."
    texts = [one.content for one in await database.read(located, ana, "LIRA", 9)]
    assert texts[:2] != texts[2:] and sorted(texts) == sorted(
        ["Lira is a boat.", "Skipper owns the Lira.", "The Lira leaks.", "The LIRA is dry."]
    )
    (found,) = await database.read(located, ana, "her, 100 %", 9)
    assert found.id == "harbour-1"
    assert await database.read(located, ana, "her% %", 9) == []
    assert await database.read(located, ana, "her_ 100", 9) == []
    assert len(await database.read(located, ana, "lira", 3)) == 3
    assert await database.read(located, ben, memory, 9) == []


async def test_rows_of_an_export(database: Database, ana: UserKey, ben: UserKey) -> None:
    await database.write_all(talk)
    await database.write_all(
        note, "Lira is a boat.", ana, tags=["wood", "boats"], entities=["Lira", "Gustav"]
    )
    await database.write_all(say, "The ferry is late.", user="ana", session="pier")
    read, stored = await database.read(queries.export_rows.memories, ana, 0, 9, 2**40)
    assert [words.turn_id for words in read[1].words] == [
        "harbour-0",
        "harbour-1",
        "quay-0",
        "quay-1",
    ]
    assert stored[1].tags == ("boats", "wood") and stored[1].words == ()
    assert stored[1].entities == ("Lira", "Gustav")
    exported = dict(await database.read(queries.export_rows.turns, ana, 0, 9))
    first, *_, last = exported
    assert await database.read(queries.export_rows.memories, ana, 0, 9, first) == [stored]
    assert [one.entities for one in exported.values()] == [("Lira", "Gustav")] * 4 + [()]
    assert [key for key, one in exported.items() if one.waiting] == [last]
    assert not any(one.correction_count for one in exported.values())
    assert await database.read(queries.export_rows.summaries, ana) == []
    assert await database.read_all(queries.sessions.sentences_of, first) == {}
    assert not exported.keys() & dict(await database.read(queries.export_rows.turns, ben, 0, 9))


async def test_pages_of_the_inspector(database: Database, ana: UserKey, ben: UserKey) -> None:
    await database.write_all(talk)
    memory = await use(database, ana)
    read, others = Inspection(database, ana).read, Inspection(database, ben).read
    totals = await read(conversations.totals)
    assert (totals.turns.rows, totals.memories.rows, totals.entities.rows) == (4, 2, 2)
    first = await read(conversations.sessions, None, 1)
    assert first.next and [one.id for one in first.rows] == ["quay"]
    second = await read(conversations.sessions, first.next, 1)
    assert [one.id for one in second.rows] == ["harbour"]
    session = first.rows[0].key
    turns = (await read(conversations.turns, session, None, 9)).rows
    assert [one.id for one in turns] == ["quay-0", "quay-1"]
    assert await read(conversations.turn, turns[0].key) == turns[0]
    assert await others(conversations.turn, turns[0].key) is None
    assert await read(conversations.turn_keys, ["quay-0", "x"]) == {"quay-0": turns[0].key}
    assert await read(conversations.zone) is None
    assert await read(conversations.reply_to, "quay", NOW, NOW + HOUR) is None

    entities = (await read(statements.entities, "", None, 9)).rows
    assert [(one.name, one.turns, one.memories) for one in entities] == [
        ("Gustav", 4, 1),
        ("Lira", 4, 1),
    ]
    lira = entities[1].key
    page = await read(statements.entities, "L", Cursor(99, 99), 9)
    assert page.rows == (entities[1],) and await read(statements.entity, lira) == entities[1]
    assert await read(statements.beside, lira, 9) == [(entities[0], 5)]
    graph = await read(statements.graph, 9)
    assert {one.name for one in graph.entities} == {"Lira", "Gustav"}
    mentioning = await read(conversations.mentioning, lira, None, 3)
    assert mentioning.next and [one.id for one in mentioning.rows] == [
        "quay-1",
        "quay-0",
        "harbour-1",
    ]
    assert len((await read(conversations.mentioning, lira, mentioning.next, 3)).rows) == 1
    assert (await others(conversations.mentioning, lira, None, 3)).rows == ()

    wanted = MemoryFilter(NOW, category=Category.CONTEXTS, tag="boats", holds=True)
    (tagged,) = (await read(statements.memories, wanted, None, 9)).rows
    assert tagged.id == memory and await read(statements.by_keys, [tagged.key]) == [tagged]
    assert await read(statements.by_names, [memory]) == {memory: tagged}
    (mentioned,) = await read(statements.mentioning, lira, 9)
    assert await read(statements.read_from, turns[0].key) == [mentioned]
    details = await read(statements.memory, mentioned.key)
    assert details and [one.turn.id for one in details.sources] == [
        "harbour-1",
        "quay-1",
        "harbour-0",
        "quay-0",
    ]
    assert details.entities.keys() == {"Lira", "Gustav"}
    details = await read(statements.memory, tagged.key)
    assert details and details.tags == ("boats",) and len(details.decisions) == 1
    assert await others(statements.memory, tagged.key) is None

    latest, earliest = (await read(statements.recalls, None, 9)).rows
    assert (latest.used, earliest.used) == (1, 0)
    assert await read(statements.recall, latest.key) == latest
    asked = await read(statements.recalls_for, "quay", "Lira?", NOW, NOW + 9 * HOUR)
    assert asked == [earliest, latest]
    held, quoted = await read(statements.items, latest.key)
    assert held.memory == tagged.key and len(quoted.turns) == 2
    quality = await read(statements.quality, 7, None)
    assert quality["2026-06"][None].latencies == TALLY.latencies + TALLY.latencies
    assert quality["2026-06"][Layer.FACTS].given == 4
    assert await read(statements.weights) == []


async def test_the_oldest_records_are_removed(
    database: Database, ana: UserKey, ben: UserKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries.quality, "MOST_RECALLS", 2)
    monkeypatch.setattr(queries.quality, "PRUNED_EVERY", 1)
    monkeypatch.setattr(queries.quality, "MOST_DAYS", 2)
    monkeypatch.setattr(queries.layer_weights, "KEPT", 2)
    days = [NOW.date() + timedelta(days=number) for number in range(4)]
    for user in (ben, ana):
        for number, day in enumerate(days if user == ana else days[:1]):
            record = queries.quality.record
            assert await database.write(record, user, block("x", number), (), interrupted=True)
            records = [QualityRecord(day, None, layer, TALLY) for layer in (None, Layer.FACTS)]
            await database.write(queries.quality.add, user, records)
            weights = Weights(facts=0.2 + number / 10)
            put = queries.layer_weights.put_weights
            await database.write(put, user, weights, NOW, f"step {number}")
    found = await database.read(queries.quality.asked, ana, None, None, 9)
    assert [one.at for one in found] == [NOW + 2 * HOUR, NOW + 3 * HOUR]
    kept = await database.read(queries.quality.of_user, ana, None, None)
    assert [one.day for one in kept] == [days[2], days[2], days[3], days[3]]
    steps = await database.read(queries.layer_weights.over_time, ana, 9)
    assert [one.reason for one in steps] == ["step 3", "step 2"]
    assert len(await database.read(queries.quality.asked, ben, None, None, 9)) == 1
    assert len(await database.read(queries.quality.of_user, ben, None, None)) == 2


async def test_offsets_of_an_intent_replace_its_former_ones(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    put, moved = queries.layer_weights.put_moved, queries.layer_weights.moved
    await database.write(put, ana, {Intent.FACT: (0.1, 0.0, 0.0, 0.0)})
    await database.write(put, ana, {Intent.FACT: (0.0, 0.2, 0.0, 0.0)})
    assert await database.read(moved, ana) == {Intent.FACT: (0.0, 0.2, 0.0, 0.0)}
    assert await database.read(moved, ben) == {}


async def test_usage_is_removed_by_a_count_of_the_users_own(
    database: Database, ana: UserKey, ben: UserKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries.quality, "MOST_RECALLS", 3)
    monkeypatch.setattr(queries.quality, "PRUNED_EVERY", 2)
    record = queries.quality.record
    for number in range(9):  # by turns: row numbers of one user are odd, of the other even
        for user in (ana, ben):
            assert await database.write(record, user, block("x", number), (), interrupted=False)
    for user in (ana, ben):
        left = await database.read(queries.quality.asked, user, None, None, 20)
        assert [one.at for one in left] == [NOW + number * HOUR for number in (6, 7, 8)]


async def test_memories_in_lists(database: Database, ana: UserKey, ben: UserKey) -> None:
    for user in (ana, ben):
        for text in ("The Lira leaks.", "The Mira leaks.", "The quay is wet."):
            await database.write_all(note, text, user)
    read = Inspection(database, ana).read
    page = await read(statements.memories, MemoryFilter(NOW, kind=Kind.FACT), None, 2)
    assert page.next and len(page.rows) == 2
    rest = await read(statements.memories, MemoryFilter(NOW, kind=Kind.FACT), page.next, 2)
    assert rest.previous and rest.next is None and len(rest.rows) == 1
    assert await read(statements.memories, MemoryFilter(NOW), rest.previous, 2) == page
    key = rest.rows[0].key
    wanted = MemoryFilter(NOW, keys=(key, 10**9), holds=True)
    chosen = await read(statements.memories, wanted, None, 9)
    assert chosen.rows == rest.rows
    assert (await read(statements.memories, MemoryFilter(NOW, holds=False), None, 9)).rows == ()
    first, other, *_ = page.rows
    await database.write(queries.decisions.merge, ana, first.id, [other.id], "a test", NOW)
    details = await read(statements.memory, first.key)
    assert details and [one.id for one in details.stands_for] == [other.id]
    details = await read(statements.memory, other.key)
    assert details and details.merged_into and details.merged_into.id == first.id
    assert len((await read(statements.memories, MemoryFilter(NOW), None, 9)).rows) == 2


async def test_an_action_on_an_erased_user_is_on_record(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    await database.write(queries.forget.remove_user, ana)
    act = Act(Action.FORGET, "everything", turns=3)
    await database.write(queries.retention.record, ana, Actor.COMMAND_LINE, act, NOW)
    (entry,) = await database.read_all(queries.retention.entries, None, None, None, 9)
    assert (entry.user_id, entry.act) == (None, act)


async def test_every_decision_is_listed(database: Database, ana: UserKey) -> None:
    first, other = [await database.write_all(note, text, ana) for text in ("Tea.", "Tea, please.")]
    await database.write(queries.decisions.merge, ana, first, [other], "a test", NOW)
    assert len(await database.read(queries.decisions.of_user, ana, jsonl.NO_LIMIT)) == 3
