"""Imports: whole or not at all, resumed, rolled back, and without what was forgotten."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

import pytest

from hotmem.errors import InvalidInput, StoreLocked
from hotmem.storage import Storage, queries
from hotmem.storage.database import Database
from hotmem.storage.queries.jobs import UserRotation
from hotmem.storage.search.searches import LexicalSearch
from hotmem.types import (
    Category,
    EvidenceKind,
    ImportResult,
    Intent,
    JobKind,
    Kind,
    QualityRecord,
    Tally,
    Turn,
    UserKey,
    Weights,
    WeightsRecord,
)
from hotmem.types.maintenance import ForgetTurns
from hotmem.types.portability import ImportRecord, MemoryRecord, SourceSpan, UserRecord
from tests.conversation import user_of
from tests.storage.contract.story import (
    NOW,
    embed,
    memories_of,
    passages,
    say,
    texts_of,
    turn,
)

DAY = timedelta(days=1)
SOURCE = "a file"


def memory(name: str, text: str, turn_id: str | None = None) -> MemoryRecord:
    words = () if turn_id is None else (SourceSpan(turn_id, 0, 5),)
    return MemoryRecord(
        name, text, "Skipper", "owns", text, Kind.FACT, Category.CONTEXTS, 3,
        hedged=False, negated=False, changes=False, single=False, said_at=NOW - DAY,
        stored_at=None if words else NOW - DAY, words=words, entities=("Albatross",),
        tags=("boats",),
    )  # fmt: skip


OFFSET: Final = (0.1, 0.0, -0.1, 0.0)


def records(user: str = "ana") -> list[ImportRecord]:
    """Two turns, two memories, weights and quality of a user."""
    return [
        turn("My boat is Albatross.", user=user, name="i1", at=NOW - DAY),
        turn("The pier is long.", user=user, name="i2", session="cabin", at=NOW - DAY),
        UserRecord(user, memory(f"{user}-1", "Skipper owns Albatross.", "i1")),
        UserRecord(user, memory(f"{user}-2", "The heron likes fish.")),
        UserRecord(user, WeightsRecord(facts=0.5, by_intent={Intent.FACT: OFFSET})),
        UserRecord(user, QualityRecord(NOW.date(), None, None, Tally(turns=4))),
    ]


async def take(
    database: Database,
    given: Sequence[ImportRecord],
    source: str = SOURCE,
    *,
    batch: int = 100,
    batches: int = 100,
    with_forgotten: bool = False,
) -> ImportResult | None:
    """Import records; None if it stops after some batches."""
    session = await database.read_all(
        queries.imported_records.start, source, "a test", with_forgotten=with_forgotten
    )
    left = iter(given)
    while (portion := session.next_batch(left, batch)) is not None:
        if batches == 0:
            return None
        batches -= 1
        while portion:
            stored = await database.write_all(
                queries.imported_records.import_records, session, portion, NOW, 9.0
            )
            portion = portion[stored:]
    await database.write_all(queries.imported_records.link, session, session.links, NOW)
    result = await database.write_all(queries.imported_records.finish, session, NOW)
    await database.write_all(
        queries.imported_records.end_sessions, sorted(session.pending_sessions)
    )
    return result


async def roll_back(database: Database) -> None:
    due = await database.read_all(queries.import_rollback.due)
    assert due is not None
    while due is not None:
        assert await database.write(queries.import_rollback.roll_back, due.user, due.key, 0.0)
        due = await database.read_all(queries.import_rollback.due)


async def waiting(database: Database) -> list[Turn]:
    return [said for _, said in await database.read_all(queries.turns.waiting, UserRotation(), 99)]


async def test_an_import_is_searchable_and_adds_nothing_twice(
    storage: Storage, ana: UserKey, ben: UserKey
) -> None:
    database = storage.database
    assert await take(database, records()) == ImportResult(2, 2, 0, 2)
    await database.write_all(embed)
    for kind, word in ((EvidenceKind.PASSAGE, "albatross"), (EvidenceKind.MEMORY, "heron")):
        (found,) = await storage.engine.search(ana, LexicalSearch(kind, [word], 9))
        assert len(found) == 1
    assert (await database.read(queries.layer_weights.weights, ana)).facts == 0.5
    assert await database.read(queries.layer_weights.moved, ana) == {Intent.FACT: OFFSET}
    assert await take(database, records(), "a copy") == ImportResult(0, 0, 4, 2)
    assert len(await database.read(texts_of, ana)) == 2
    (decision,) = await database.read(queries.decisions.of_user, ana, 9)
    assert decision.action == "imported"
    assert await database.read(texts_of, ben) == []


async def test_a_withdrawn_memory_is_imported_with_its_undoing(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    given = records()
    for place in (2, 3):
        stored = given[place]
        assert isinstance(stored, UserRecord) and isinstance(stored.record, MemoryRecord)
        withdrawn = replace(stored.record, merged_into=stored.record.id)
        given[place] = replace(stored, record=withdrawn)
    for source in (SOURCE, "a copy"):
        await take(database, given, source)
        assert await database.read(memories_of, ana) == []
    record = queries.imported_records.record_withdrawn
    await database.write(record, ana, "ana-1", NOW)
    await database.write(record, ben, "ana-1", NOW)
    found = await database.read(queries.decisions.of_user, ana, 9)
    actions = [one.action for one in found]
    assert sorted(actions) == ["filed", "imported", "read", "undone", "undone"]
    assert all(one.undone_at == NOW for one in found if one.action in ("filed", "read"))
    for one in found:
        if one.action == "undone":
            await database.write(queries.undoing.undo, ana, one.id, NOW + DAY)
    assert set(await database.read(memories_of, ana)) == {
        "Skipper owns Albatross.",
        "The heron likes fish.",
    }
    assert not await database.read_all(queries.maintenance.faults)
    assert await database.read(queries.decisions.of_user, ben, 9) == []


async def test_an_unfinished_import_waits_and_is_resumed(database: Database, ana: UserKey) -> None:
    assert await take(database, records(), batch=1, batches=3) is None
    assert await database.read_all(queries.imports.progress, SOURCE) == {"ana": 3}
    assert await waiting(database) == [], "its turns are left alone"
    assert await database.read(queries.imports.in_progress, ana, SOURCE) is not None
    assert len(await database.read_all(queries.imports.all_in_progress, SOURCE)) == 1
    with pytest.raises(InvalidInput):
        await database.read(queries.imports.check_none_in_progress, ana)
    with pytest.raises(InvalidInput):
        await take(database, records(), "another file")
    assert await take(database, records(), batch=1) == ImportResult(2, 2, 0, 2)
    assert len(await waiting(database)) == 2
    assert await database.read_all(queries.imports.progress, SOURCE) == {}
    await database.read(queries.imports.check_none_in_progress, ana)


async def test_two_programs_cannot_run_one_import(
    database: Database, second: Database, ana: UserKey
) -> None:
    session = await database.read_all(queries.imported_records.start, SOURCE, "a test")
    other = await second.read_all(queries.imported_records.start, SOURCE, "a test")
    first = records()[:1]
    await database.write_all(queries.imported_records.import_records, session, first, NOW, 9.0)
    with pytest.raises(StoreLocked):
        await second.write_all(queries.imported_records.import_records, other, first, NOW, 9.0)
    assert len(await database.read(texts_of, ana)) == 1


async def test_an_undone_import_leaves_what_was_there(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    await database.write_all(say, "I was here before.", session="cabin")
    await database.write_all(say, "I was here before.", user="ben")
    await database.write(queries.quality.add, ana, [records_quality()])
    before = [await database.read(read, ana) for read in (texts_of, memories_of, passages)]
    await take(database, records())
    await database.write_all(say, "I came later.", session="harbour")
    (decision,) = await database.read(queries.decisions.of_user, ana, 9)
    undone = await database.write(queries.undoing.undo, ana, decision.id, NOW)
    assert undone.removed == 4
    await roll_back(database)
    assert await database.read(texts_of, ana) == ["I was here before.", "I came later."]
    assert await database.read(memories_of, ana) == before[1] == []
    assert (await database.read(queries.layer_weights.weights, ana)) == Weights()
    assert await database.read(queries.layer_weights.moved, ana) == {}
    assert await database.read(queries.quality.of_user, ana, None, None) == [records_quality()]
    assert await database.read(texts_of, ben) == ["I was here before."]


async def test_a_failed_import_is_reverted_for_all_its_users(database: Database) -> None:
    given = [*records("ana"), *records("ben")]
    assert await take(database, given, batch=1, batches=10) is None
    await database.write_all(queries.imports.abort, SOURCE)
    assert (await database.read_all(queries.jobs.waiting_counts))[JobKind.IMPORT] == 2
    await roll_back(database)
    for user in await database.read_all(queries.users.names, 9):
        key = await user_of(database, user)
        assert await database.read(texts_of, key) == await database.read(memories_of, key) == []
    assert (await take(database, given)) == ImportResult(4, 4, 0, 4)


async def test_an_import_brings_nothing_back_that_was_forgotten(
    storage: Storage, ana: UserKey
) -> None:
    database = storage.database
    await take(database, records())
    await storage.forgetting.forget(ana, ForgetTurns(("i1",)))
    assert await database.read(memories_of, ana) == ["The heron likes fish."]
    assert await take(database, records(), "a copy") == ImportResult(0, 0, 2, 2, forgotten=2)
    assert await database.read(texts_of, ana) == ["The pier is long."]
    result = await take(database, records(), "a third", with_forgotten=True)
    assert result == ImportResult(1, 1, 2, 2)
    assert len(await database.read(memories_of, ana)) == 2
    assert not await database.read(queries.deletion_marks.has, ana, "turn", "i1")


async def test_an_invalid_record_leaves_its_batch_out(database: Database, ana: UserKey) -> None:
    await database.write_all(queries.turns.add, turn("Other words.", name="i2"), NOW)
    with pytest.raises(InvalidInput):
        await take(database, records())
    assert await database.read(texts_of, ana) == ["Other words."]
    assert await database.read_all(queries.imports.progress, SOURCE) == {}


def records_quality() -> QualityRecord:
    """A record of another day than the imported one."""
    return QualityRecord((NOW - DAY).date(), None, None, Tally(turns=2))
