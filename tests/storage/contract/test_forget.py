"""Forgetting: every target, for good and for a time, without a trace in other users' memory."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, Final

import pytest

from hotmem.errors import DeletionChanged
from hotmem.storage import Storage, queries
from hotmem.storage.database import Connection, Database
from hotmem.storage.queries.jobs import UserRotation
from hotmem.storage.search.searches import LexicalSearch
from hotmem.storage.search.vectors import stored
from hotmem.types import EvidenceKind, ForgetResult, QualityRecord, Tally, UserKey
from hotmem.types.maintenance import (
    ForgetEntity,
    ForgetEverything,
    ForgetMemory,
    ForgetSession,
    ForgetSpan,
    ForgetTarget,
    ForgetTurns,
)
from tests.storage.contract.story import (
    NOW,
    embed,
    memories_of,
    note,
    passages,
    postings,
    texts_of,
    turn,
    understand,
    user_key,
)

PASSAGE, MEMORY = EvidenceKind.PASSAGE, EvidenceKind.MEMORY
MINUTE = timedelta(minutes=1)
GRACE = timedelta(days=30)

BOAT, PIER, RAIN = "My boat is Albatross.", "The pier is long.", "It rains on the cabin."
OWNS, HERON = "Skipper owns Albatross.", "The heron Gustav likes fish."
TURNS, MEMORIES = (BOAT, PIER, RAIN), (OWNS, HERON)


def live(conn: Connection) -> None:
    """Both users say, note and read the same, under the same ids of turns and sessions."""
    for user in ("ana", "ben"):
        queries.turns.add(conn, turn(BOAT, user=user, name="t1"), NOW)
    understand(conn, "Albatross", entities=["Albatross"])
    for user in ("ana", "ben"):
        key, said = user_key(conn, user), partial(turn, user=user)
        queries.turns.add(conn, said(PIER, name="t2", at=NOW + MINUTE), NOW)
        queries.turns.add(conn, said(RAIN, name="t3", session="cabin", at=NOW + 9 * MINUTE), NOW)
        note(conn, HERON, key, entities=["Gustav"], tags=["birds"])
        queries.quality.add(conn, key, [QualityRecord(NOW.date(), None, None, Tally(turns=1))])
    embed(conn)


def seen(conn: Connection, user: UserKey) -> dict[str, Any]:
    """What can be read of a user."""
    keys = passages(conn, user)
    memories = queries.memories.of_user(conn, user, NOW, past=True)
    found = {
        kind: sorted(
            (key, kind)
            for term in ("albatross", "pier", "rain", "heron", "fish")
            for key in postings(conn, user, term, kind)
        )
        for kind in (PASSAGE, MEMORY)
    }
    return {
        "turns": queries.turns.of_user(conn, user, 0, 99),
        "order": [one.order_time for _, one in queries.export_rows.turns(conn, user, 0, 99)],
        "memories": memories,
        "found": found,
        "named": queries.memories.ask_of_entities(conn, user, ["Albatross", "Gustav"], 9)(),
        "tags": queries.tags.known(conn, user, ["birds"]),
        "evidence": [
            one._replace(vector=None) for one in queries.evidence.load(conn, user, {PASSAGE: keys})
        ],
        "vectors": sorted(stored(conn, user, PASSAGE, "id", keys)()),
        "quality": queries.quality.of_user(conn, user, None, None),
        "decisions": queries.decisions.of_user(conn, user, 9),
        "waiting": [
            said.id
            for _, said in queries.turns.waiting(conn, UserRotation(), 99)
            if said.user_id == queries.users.name(conn, user)
        ],
    }


def memory_id(conn: Connection, user: UserKey, text: str) -> str:
    (found,) = (
        one.id for one in queries.memories.of_user(conn, user, NOW, past=True) if one.text == text
    )
    return found


@dataclass(frozen=True)
class Case:
    """A target, and what of `TURNS` and `MEMORIES` goes with it.

    Attributes:
        target: The target, from a connection and the user.
        turns: Turns that go.
        memories: Memories that go.
        sessions: Number of sessions that go.
    """

    target: Callable[[Connection, UserKey], ForgetTarget]
    turns: tuple[str, ...]
    memories: tuple[str, ...]
    sessions: int = 0


CASES: Final = {
    "memory with its turn": Case(
        lambda conn, user: ForgetMemory(memory_id(conn, user, OWNS)), (BOAT,), (OWNS,)
    ),
    "noted memory": Case(
        lambda conn, user: ForgetMemory(memory_id(conn, user, HERON)), (), (HERON,)
    ),
    "entity of a turn": Case(lambda *_: ForgetEntity("ALBATROSS"), (BOAT,), (OWNS,)),
    "entity of a note": Case(lambda *_: ForgetEntity("gustav"), (), (HERON,)),
    "session": Case(lambda *_: ForgetSession("harbour"), (BOAT, PIER), (OWNS,), 1),
    "turns": Case(lambda *_: ForgetTurns(("t2", "t3", "unknown")), (PIER, RAIN), (), 1),
    "span": Case(lambda *_: ForgetSpan(NOW + MINUTE, NOW + 9 * MINUTE), (PIER,), ()),
    "span with notes": Case(lambda *_: ForgetSpan(None, NOW + MINUTE), (BOAT,), (OWNS, HERON)),
    "open span": Case(lambda *_: ForgetSpan(None, None), TURNS, MEMORIES, 2),
    "everything": Case(lambda *_: ForgetEverything(), TURNS, MEMORIES, 2),
}

NOTHING: Final[dict[str, ForgetTarget]] = {
    "memory": ForgetMemory("0" * 32),
    "entity": ForgetEntity("Alba"),
    "session": ForgetSession("attic"),
    "turns": ForgetTurns(("t9",)),
    "span": ForgetSpan(NOW + GRACE, None),
}
"""Targets of which nothing is stored."""

every_target = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


async def prepare(database: Database, ana: UserKey, case: Case) -> ForgetTarget:
    await database.write_all(live)
    return await database.read(case.target, ana)


async def check_gone(storage: Storage, ana: UserKey, case: Case, removed: ForgetResult) -> None:
    """What the case removes is not found, and the rest is."""
    database = storage.database
    assert removed.turns == len(case.turns)
    assert removed.memories == len(case.memories)
    assert removed.sessions == case.sessions
    left = [text for text in TURNS if text not in case.turns]
    assert await database.read(texts_of, ana) == left
    kept = sorted(text for text in MEMORIES if text not in case.memories)
    assert await database.read(memories_of, ana) == kept
    assert len(await database.read(passages, ana)) == len(left)
    for kind, words in (
        (PASSAGE, {BOAT: "albatross", PIER: "pier", RAIN: "rain"}),
        (MEMORY, {OWNS: "albatross", HERON: "heron"}),
    ):
        for text, word in words.items():
            expected = int(text in left or text in kept)
            assert len(await database.read(postings, ana, word, kind)) == expected
            (found,) = await storage.engine.search(ana, LexicalSearch(kind, [word], 9))
            assert len(found) == expected

    def mentioning(conn: Connection, user: UserKey) -> list[int]:
        return queries.memories.ask_of_entities(conn, user, ["Albatross", "Gustav"], 9)()

    assert len(await database.read(mentioning, ana)) == len(kept)
    tags = await database.read(queries.tags.known, ana, ["birds"])
    assert tags == ({"birds"} if HERON in kept else set())


@every_target
async def test_a_target_is_gone_and_other_users_keep_theirs(
    case: Case, storage: Storage, ana: UserKey, ben: UserKey
) -> None:
    target = await prepare(storage.database, ana, case)
    await storage.engine.search(ana, LexicalSearch(PASSAGE, ["pier"], 9))
    before = await storage.database.read(seen, ben)
    removed = await storage.forgetting.forget(ana, target)
    await check_gone(storage, ana, case, removed)
    assert removed.restorable_until is None
    assert await storage.database.read(seen, ben) == before
    again = await storage.forgetting.forget(ana, target)
    assert not again.anything and await storage.forgetting.restore(ana) is None


@every_target
async def test_a_dry_run_counts_and_changes_nothing(
    case: Case, storage: Storage, ana: UserKey
) -> None:
    target = await prepare(storage.database, ana, case)
    before = await storage.database.read(seen, ana)
    counted = await storage.forgetting.forget(ana, target, dry_run=True)
    assert await storage.database.read(seen, ana) == before
    assert not await storage.database.read(queries.deletion_marks.has, ana, "turn", "t1")
    assert await storage.database.read_all(queries.deletion_marks.number) == 0
    assert await storage.forgetting.forget(ana, target) == counted


@every_target
async def test_within_the_grace_it_is_hidden_and_can_be_restored(
    case: Case, storage: Storage, ana: UserKey, ben: UserKey
) -> None:
    database = storage.database
    target = await prepare(database, ana, case)
    before, other = await database.read(seen, ana), await database.read(seen, ben)
    removed = await storage.forgetting.forget(ana, target, grace=GRACE)
    assert removed.restorable_until is not None
    await check_gone(storage, ana, case, removed)
    latest = await database.read(queries.deletions.latest, ana)
    assert latest is not None and latest.removed == removed
    assert latest.erase_at - latest.asked_at == GRACE
    assert await database.read(queries.deletions.latest, ben) is None
    assert await storage.forgetting.restore(ben) is None
    restored = await storage.forgetting.restore(ana)
    assert restored is not None and restored[0] == latest
    assert sorted(restored[1]) == sorted((*case.turns, *case.memories))
    assert await database.read(seen, ana) == before
    assert await database.read(seen, ben) == other
    for name in ("t1", "t2", "t3"):
        assert not await database.read(queries.deletion_marks.has, ana, "turn", name)
    assert await storage.forgetting.restore(ana) is None


@every_target
async def test_after_the_grace_it_is_erased(
    case: Case, storage: Storage, ana: UserKey, ben: UserKey
) -> None:
    database = storage.database
    target = await prepare(database, ana, case)
    await database.write(queries.deletions.delete, ana, target, NOW, NOW + GRACE)
    assert not await database.read_all(queries.deletions.any_due, NOW + GRACE - MINUTE)
    await database.write_all(queries.deletions.erase_due, NOW + GRACE - MINUTE)
    assert await database.read(queries.deletions.latest, ana) is not None
    assert await database.read_all(queries.deletions.any_due, NOW + GRACE)
    await database.write_all(queries.deletions.erase_due, NOW + GRACE)
    assert not await database.read_all(queries.deletions.any_due, NOW + GRACE)
    assert await storage.forgetting.restore(ana) is None
    assert len(await database.read(texts_of, ben)) == len(TURNS)


@every_target
async def test_a_restore_keeps_what_came_meanwhile(
    case: Case, storage: Storage, ana: UserKey
) -> None:
    database = storage.database
    target = await prepare(database, ana, case)
    await storage.forgetting.forget(ana, target, grace=GRACE)
    later = turn("The sun is back.", name="t4", at=NOW + 20 * MINUTE)
    await database.write_all(queries.turns.add, later, NOW + 20 * MINUTE)
    assert await storage.forgetting.restore(ana) is not None
    assert sorted(await database.read(texts_of, ana)) == sorted((*TURNS, later.text))
    assert await database.read(memories_of, ana) == sorted(MEMORIES)
    await database.write_all(embed)
    (found,) = await storage.engine.search(ana, LexicalSearch(PASSAGE, ["sun", "pier"], 9))
    assert len(found) == 2


@pytest.mark.parametrize("target", NOTHING.values(), ids=NOTHING)
@pytest.mark.parametrize("grace", [None, GRACE], ids=["for good", "with grace"])
async def test_what_is_not_stored_is_not_forgotten(
    target: ForgetTarget, grace: timedelta | None, storage: Storage, ana: UserKey
) -> None:
    await storage.database.write_all(live)
    before = await storage.database.read(seen, ana)
    assert not (await storage.forgetting.forget(ana, target, grace=grace)).anything
    assert await storage.database.read(seen, ana) == before
    assert await storage.database.read(queries.deletions.latest, ana) is None


async def test_forgetting_for_good_includes_what_can_be_restored(
    storage: Storage, ana: UserKey
) -> None:
    await storage.database.write_all(live)
    await storage.forgetting.forget(ana, ForgetSession("harbour"), grace=GRACE)
    await storage.forgetting.forget(ana, ForgetSession("cabin"))
    assert await storage.database.read(queries.deletions.latest, ana) is not None
    await storage.forgetting.forget(ana, ForgetEntity("Albatross"))
    assert await storage.forgetting.restore(ana) is None
    assert await storage.database.read(texts_of, ana) == []


async def test_the_latest_deletion_is_restored_first(storage: Storage, ana: UserKey) -> None:
    await storage.database.write_all(live)
    before = await storage.database.read(seen, ana)
    for target in (ForgetTurns(("t1",)), ForgetSession("harbour")):
        assert (await storage.forgetting.forget(ana, target, grace=GRACE)).anything
    await storage.forgetting.restore(ana)
    assert await storage.database.read(texts_of, ana) == [PIER, RAIN]
    await storage.forgetting.restore(ana)
    assert await storage.database.read(seen, ana) == before


async def test_ids_of_forgotten_turns_are_marked(
    storage: Storage, ana: UserKey, ben: UserKey
) -> None:
    database = storage.database
    await database.write_all(live)
    start = await database.read_all(queries.deletion_marks.number)
    await storage.forgetting.forget(ana, ForgetTurns(("t1",)))
    assert await database.read(queries.deletion_marks.has, ana, "turn", "t1")
    assert not await database.read(queries.deletion_marks.has, ana, "memory", "t1")
    assert not await database.read(queries.deletion_marks.has, ana, "turn", "t2")
    assert not await database.read(queries.deletion_marks.has, ben, "turn", "t1")
    now = await database.read_all(queries.deletion_marks.number)
    assert now > start
    assert await database.read(queries.deletion_marks.forgot_since, ana, start)
    assert not await database.read(queries.deletion_marks.forgot_since, ana, now)
    assert not await database.read(queries.deletion_marks.forgot_since, ben, start)
    await database.write(queries.deletion_marks.remove, ana, "turn", ["t1"])
    assert not await database.read(queries.deletion_marks.has, ana, "turn", "t1")


async def test_a_forgotten_user_comes_back_empty(
    storage: Storage, ana: UserKey, ben: UserKey
) -> None:
    database = storage.database
    await database.write_all(live)
    await storage.forgetting.forget(ana, ForgetEverything())
    assert await database.read_all(queries.users.find, "ana") is None
    again = await database.write_all(user_key, "ana")
    assert again != ben and await database.read(texts_of, again) == []
    assert await database.read(queries.deletion_marks.has, again, "turn", "t1")
    (found,) = await storage.engine.search(again, LexicalSearch(PASSAGE, ["pier"], 9))
    assert found == []


async def test_deletions_by_a_wrong_clock_get_a_new_grace(database: Database, ana: UserKey) -> None:
    await database.write_all(live)
    ahead = NOW + timedelta(days=900)
    await database.write(
        queries.deletions.delete, ana, ForgetSession("cabin"), ahead, ahead + GRACE
    )
    assert await database.read_all(queries.deletions.has_misdated, NOW)
    await database.write_all(queries.deletions.redate, NOW)
    assert not await database.read_all(queries.deletions.has_misdated, NOW)
    latest = await database.read(queries.deletions.latest, ana)
    assert latest is not None and latest.erase_at == NOW + GRACE
    assert await database.read_all(queries.deletions.is_clock_plausible, NOW)


async def test_row_changes_include_cascades(database: Database, ana: UserKey) -> None:
    await database.write_all(live)

    def change(conn: Connection, user: UserKey) -> list[tuple[str, bool, bool]]:
        with conn.row_changes({"turns", "passages", "memories"}) as changes:
            queries.forget.remove(conn, user, ForgetTurns(("t1",)))
            queries.turns.add(conn, turn("New.", name="t5"), NOW)
        conn.execute("UPDATE turns SET speaker = 'Mate' WHERE public_id = 't5'")
        return [(table, old is not None, new is not None) for table, old, new in changes]

    changes = await database.write(change, ana)
    for table in ("turns", "passages", "memories"):
        assert (table, True, False) in changes, f"a removed row of {table}"
    for table in ("turns", "passages"):
        assert (table, False, True) in changes, f"a new row of {table}"
    assert {table for table, *_ in changes} == {"turns", "passages", "memories"}
    assert ("turns", True, True) not in changes, "after the block nothing is collected"


async def test_what_is_too_old_is_removed_in_portions(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    await database.write_all(live)
    old = NOW + 5 * MINUTE
    assert await database.read(queries.retention.due, ana, None, old)
    assert not await database.read(queries.retention.due, ana, None, NOW)
    user, after = await database.read_all(queries.retention.following, None, old, 0)
    assert (user, after) == (ana, ana)
    assert await database.read_all(queries.retention.following, None, old, ben) == (None, None)
    more = True
    while more:
        removed, more = await database.write(queries.retention.remove, ana, None, old, 1)
        assert removed.anything
    assert await database.read(texts_of, ana) == [RAIN]
    assert await database.read(memories_of, ana) == []
    assert len(await database.read(texts_of, ben)) == len(TURNS)


async def test_words_of_a_user(database: Database, ana: UserKey, ben: UserKey) -> None:
    await database.write_all(live)
    said, all_words = await database.read(queries.forget.words_by_speaker, ana)
    assert {"albatross", "pier", "heron"} <= said <= all_words

    def remove_memory(conn: Connection, user: UserKey) -> None:
        queries.forget.remove(conn, user, ForgetMemory(memory_id(conn, user, HERON)))

    removed = await database.write(queries.forget.count_removed, ana, remove_memory)
    assert (removed.turns, removed.memories, removed.tags) == (0, 1, 1)
    said, _ = await database.read(queries.forget.words_by_speaker, ana)
    assert "heron" not in said
    said, _ = await database.read(queries.forget.words_by_speaker, ben)
    assert "heron" in said


async def test_a_confirmed_deletion_deletes_only_the_ids_of_its_preview(
    storage: Storage, ana: UserKey, ben: UserKey
) -> None:
    database, everything = storage.database, ForgetEverything()
    await database.write_all(live)
    theirs = await database.read(seen, ben)
    preview = await storage.forgetting.forget(ana, everything, dry_run=True)
    heron = await database.read(memory_id, ana, HERON)
    assert preview.ids == {"t1", "t2", "t3", heron}, "what was read from a turn goes with it"
    await database.write_all(note, "The mast is new.", ana)
    before = await database.read(seen, ana)
    for grace in (None, GRACE):
        with pytest.raises(DeletionChanged):
            await storage.forgetting.forget(ana, everything, grace=grace, confirmed=preview.ids)
    assert await database.read(seen, ana) == before
    again = await storage.forgetting.forget(ana, everything, dry_run=True)
    assert again.ids > preview.ids and again.fingerprint != preview.fingerprint
    await storage.forgetting.forget(ana, everything, grace=GRACE, confirmed=again.ids)
    assert await database.read(texts_of, ana) == []
    assert await database.read(seen, ben) == theirs


async def test_a_fact_read_after_the_preview_goes_with_its_confirmed_turn(
    storage: Storage, ana: UserKey
) -> None:
    database, target = storage.database, ForgetTurns(("t1",))
    await database.write_all(queries.turns.add, turn(BOAT, user="ana", name="t1"), NOW)
    preview = await storage.forgetting.forget(ana, target, dry_run=True)
    await database.write_all(understand, "Albatross")
    removed = await storage.forgetting.forget(ana, target, confirmed=preview.ids)
    assert (removed.turns, removed.memories) == (1, 1) and removed.ids == {"t1"}
