"""Index revisions, search primitives, and each kind of search."""

import asyncio
import time
from collections import Counter
from datetime import timedelta

import numpy as np
import pytest

from hotmem.errors import DeadlineExceeded
from hotmem.storage import Storage, queries
from hotmem.storage.database import Connection, Database
from hotmem.storage.queries.index_entries import to_bits
from hotmem.storage.search.searches import (
    EntitySearch,
    HappenedIn,
    LexicalSearch,
    SaidIn,
    Search,
    SessionSearch,
    VectorSearch,
)
from hotmem.storage.search.vectors import stored, to_bytes
from hotmem.types import EvidenceKind, Interval, SessionSummary, TimedWords, UserKey
from hotmem.types.recall import IndexState
from hotmem.types.sessions import Topic
from tests.letters import LetterEncoder
from tests.storage.contract.story import (
    NOW,
    embed,
    move,
    note,
    passages,
    postings,
    say,
    sought,
    understand,
    user_key,
)

PASSAGE, MEMORY, SUMMARY = EvidenceKind.PASSAGE, EvidenceKind.MEMORY, EvidenceKind.SUMMARY
LINES = ("The ferry is late.", "A heron stands on the pier.", "We took the ferry home.")
DAY = timedelta(days=1)


def state(
    conn: Connection, user: UserKey, kind: EvidenceKind = PASSAGE, waiting: int = 0, latest: int = 0
) -> IndexState:
    return conn.search.index_state(conn, user, kind, waiting, latest)()


def talk(conn: Connection) -> None:
    """Both users say the same, in sessions of the same names."""
    for user in ("ana", "ben"):
        user_key(conn, user)
        say(conn, *LINES, user=user)
        say(conn, "A heron flew over the ferry.", user=user, session="cabin")
    embed(conn)


def session_of(conn: Connection, user: UserKey, key: int) -> int:
    page = conn.search.index_page(conn, user, PASSAGE, key - 1, 1)()
    return int(page.sessions[0])


def summarise(conn: Connection, user: UserKey, session: int, text: str) -> None:
    seen = queries.sessions.unsummarised(conn, user, session)
    assert seen is not None
    summary = SessionSummary(("ferry",))
    queries.sessions.put(conn, user, seen, summary, {"ferry": Topic("Ferry", 1.0)}, text)
    embed(conn)


async def test_a_revision_counts_changes_other_than_new_rows(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    assert await database.read(state, ana) == IndexState(0, 0, False, False, 0)
    await database.write_all(say, *LINES)
    added = await database.read(state, ana)
    first, *_, last = await database.read(passages, ana)
    assert (added.last, added.revision) == (last, 0)
    assert not added.waiting_embedded and not added.latest_embedded
    await database.write_all(embed)
    embedded = await database.read(state, ana, PASSAGE, first, last)
    assert embedded == IndexState(last, 0, True, True, 0), "a first vector is no revision"
    await database.write(queries.index_entries.sign, ana, PASSAGE, first, np.ones(64))
    changed = await database.read(state, ana)
    assert changed.revision > 0
    await database.write(queries.index_entries.remove, ana, PASSAGE, last)
    removed = await database.read(state, ana)
    assert removed.revision > changed.revision and removed.last < last
    await database.write(queries.index_entries.add, ana, PASSAGE, last + 5, 1, "late")
    await database.write(queries.index_entries.add, ana, PASSAGE, last + 2, 1, "later")
    inserted = await database.read(state, ana)
    assert inserted.revision > removed.revision and inserted.last == last + 5
    assert await database.read(state, ben) == IndexState(0, 0, False, False, 0)
    assert await database.read(state, ana, MEMORY) == IndexState(0, 0, False, False, 0)


async def test_a_rolled_back_change_leaves_the_revision(database: Database, ana: UserKey) -> None:
    await database.write_all(say, *LINES)
    first, *_ = await database.read(passages, ana)
    before = await database.read(state, ana)
    await database.rehearse(queries.index_entries.remove, ana, PASSAGE, first)
    assert await database.read(state, ana) == before
    assert await database.read(postings, ana, "ferri") != []


async def test_pages_of_the_index(database: Database, ana: UserKey, ben: UserKey) -> None:
    await database.write_all(talk)
    await database.write_all(say, "Rain.", session="cabin two")
    keys = await database.read(passages, ana)

    def page(conn: Connection, after: int, limit: int) -> list[object]:
        found = conn.search.index_page(conn, ana, PASSAGE, after, limit)()
        assert [one.dtype for one in found[:4]] == [np.int64, np.int64, np.int64, np.bool_]
        return [*(one.tolist() for one in found[:4]), bytes(found.bits)]

    first = await database.read_all(page, 0, 2)
    line = LetterEncoder().encode([f"Skipper: {text}" for text in LINES])
    assert first[0] == keys[:2] and first[3] == [True, True]
    assert first[4] == to_bits(line[0]) + to_bits(line[1])
    assert first[2] == [4, 6], "lengths in words"
    rest = await database.read_all(page, keys[2], 99)
    assert rest[0] == keys[3:] and rest[3] == [True, False]
    assert await database.read_all(page, keys[-1], 9) == [[], [], [], [], b""]


async def test_postings_and_terms(database: Database, ana: UserKey, ben: UserKey) -> None:
    await database.write_all(talk)
    mine = await database.read(passages, ana)
    assert await database.read(postings, ana, "ferri") == [mine[0], mine[2], mine[3]]
    assert await database.read(postings, ana, "whale") == []
    assert len(await database.read(postings, ben, "ferri")) == 3

    def after(conn: Connection, user: UserKey) -> list[int]:
        return list(
            map(int, conn.search.postings(conn, user, PASSAGE, {"ferri": mine[0]})()["ferri"])
        )

    def has(conn: Connection, user: UserKey, key: int) -> bool:
        return conn.search.has_terms(conn, user, PASSAGE, key)

    assert await database.read(after, ana) == [mine[2], mine[3]]
    assert await database.read(has, ana, mine[0])

    def change(conn: Connection, user: UserKey) -> None:
        conn.search.remove_terms(conn, user, PASSAGE, mine[0])
        conn.search.compact_terms(conn, PASSAGE)

    await database.write(change, ana)
    assert not await database.read(has, ana, mine[0])
    assert await database.read(postings, ana, "ferri") == [mine[2], mine[3]]
    await database.write(queries.index_entries.put_words, ana, PASSAGE, mine[0], "Whales!")
    assert await database.read(postings, ana, "whale") == [mine[0]]
    assert await database.read(postings, ana, "whale", MEMORY) == []
    await database.write_all(lambda conn: conn.search.clear_terms(conn, PASSAGE))
    assert await database.read(postings, ana, "ferri") == []
    assert await database.read(postings, ben, "ferri") == []
    await database.write_all(queries.maintenance.reindex)
    assert await database.read(postings, ana, "ferri") == [mine[0], mine[2], mine[3]]


async def test_vectors_of_rows(database: Database, ana: UserKey, ben: UserKey) -> None:
    await database.write_all(talk)
    mine, theirs = await database.read(passages, ana), await database.read(passages, ben)

    def vectors(conn: Connection, column: str, values: list[int]) -> dict[int, bytes]:
        return dict(stored(conn, ana, PASSAGE, column, values)())

    found = await database.read_all(vectors, "id", [*mine[:2], *theirs])
    row = LetterEncoder().encode([f"Skipper: {LINES[0]}"])[0]
    assert found.keys() == set(mine[:2]) and bytes(found[mine[0]]) == to_bytes(row)
    session = await database.read(session_of, ana, mine[0])
    assert (await database.read_all(vectors, "session", [session])).keys() == set(mine[:3])
    await database.write_all(say, "Rain.", session="harbour two")
    waiting = (await database.read(passages, ana))[-1]
    assert await database.read_all(vectors, "id", [waiting]) == {}


async def test_lexical_and_vector_search(storage: Storage, ana: UserKey, ben: UserKey) -> None:
    database = storage.database
    await database.write_all(talk)
    mine = await database.read(passages, ana)
    words, nothing, nearest, sessions, inside = await storage.engine.search(
        ana,
        LexicalSearch(PASSAGE, ["ferries"], 9),
        LexicalSearch(PASSAGE, ["whale"], 9),
        VectorSearch(PASSAGE, sought(f"Skipper: {LINES[1]}"), 2),
        LexicalSearch(SUMMARY, ["pier"], 9),
        SessionSearch(
            [await database.read(session_of, ana, mine[3])], sought(f"Skipper: {LINES[1]}"), 9
        ),
    )
    assert {key for key, _ in words} == {mine[0], mine[2], mine[3]} and nothing == []
    scores = [score for _, score in words]
    assert scores == sorted(scores, reverse=True)
    assert len(nearest) == 2 and nearest[0][0] == mine[1]
    assert nearest[0][1] == pytest.approx(1, abs=1e-2)
    assert [key for key, _ in sessions] == [await database.read(session_of, ana, mine[0])]
    assert [key for key, _ in inside] == [mine[3]]
    (limited,) = await storage.engine.search(ana, LexicalSearch(PASSAGE, ["ferry"], 1))
    assert len(limited) == 1


async def test_both_users_find_the_same_scores_in_their_own_rows(
    storage: Storage, ana: UserKey, ben: UserKey
) -> None:
    await storage.database.write_all(talk)
    searches = (
        LexicalSearch(PASSAGE, ["ferry", "heron"], 9),
        VectorSearch(PASSAGE, sought("Skipper: A heron."), 9),
        SaidIn(PASSAGE, Interval(NOW - DAY, NOW + DAY), sought("Skipper: A heron."), 9),
    )
    of_ana = await storage.engine.search(ana, *searches)
    of_ben = await storage.engine.search(ben, *searches)
    for one, other in zip(of_ana, of_ben, strict=True):
        assert Counter(score for _, score in one) == Counter(score for _, score in other)
        assert one and not {key for key, _ in one} & {key for key, _ in other}


async def test_memories_by_words_vectors_and_names(
    storage: Storage, ana: UserKey, ben: UserKey
) -> None:
    database = storage.database
    for user in (ana, ben):
        await database.write_all(note, "The heron Gustav likes fish.", user, entities=["Gustav"])
        await database.write_all(note, "The ferry costs two euros.", user)
    words, nearest, named, unnamed = await storage.engine.search(
        ana,
        LexicalSearch(MEMORY, ["heron"], 9),
        VectorSearch(MEMORY, sought("The ferry costs two euros."), 1),
        EntitySearch(["GUSTAV"], 9),
        EntitySearch(["Gustavo"], 9),
    )
    found = await database.read(queries.evidence.load, ana, {MEMORY: [key for key, _ in words]})
    assert [one.text for one in found] == ["The heron Gustav likes fish."]
    assert [key for key, _ in named] == [key for key, _ in words]
    assert len(nearest) == 1 and nearest[0][1] == pytest.approx(1, abs=1e-2)
    assert nearest[0][0] != words[0][0] and unnamed == []


async def test_summaries(storage: Storage, ana: UserKey) -> None:
    database = storage.database
    await database.write_all(talk)
    mine = await database.read(passages, ana)
    session = await database.read(session_of, ana, mine[0])
    await database.write(queries.sessions.end, ana, "harbour")
    await database.write(summarise, ana, session, "The ferry was late.")
    nearest, held, before = await storage.engine.search(
        ana,
        VectorSearch(SUMMARY, sought("The ferry was late."), 9),
        SaidIn(SUMMARY, Interval(NOW, NOW + DAY), sought("The ferry was late."), 9),
        SaidIn(SUMMARY, Interval(NOW - DAY, NOW), sought("The ferry was late."), 9),
    )
    assert [key for key, _ in nearest] == [key for key, _ in held] == [session]
    assert before == []
    (found,) = await database.read(queries.evidence.load, ana, {SUMMARY: [session]})
    assert found.text == "The ferry was late."
    summary = await database.read(queries.sessions.of_session, ana, "harbour")
    assert summary is not None and summary.topics == ("ferry",)


async def test_endings(database: Database, ana: UserKey, ben: UserKey) -> None:
    await database.write_all(say, "I live in Porto.", "Lovely.", "I live in Braga.", "In Faro now.")
    for place in ("Porto", None, "Braga", "Faro"):
        await database.write_all(move, place)
    mine = await database.read(passages, ana)
    keys = await database.read_all(
        lambda conn: conn.search.index_page(conn, ana, MEMORY, 0, 9)().keys.tolist()
    )
    ask = queries.evidence.ask
    found = await database.read(lambda conn, user: ask(conn, user, {MEMORY: keys})(), ana)
    assert {of: end.replaced_by for of, end in found.items()} == {
        (MEMORY, keys[0]): keys[2],
        (MEMORY, keys[1]): keys[2],
    }
    near = await database.read(
        lambda conn, user: ask(conn, user, {PASSAGE: mine[1:2]}, mine[1:2], 1)(), ana
    )
    assert {of: end.replaced_by for of, end in near.items()} == {
        (PASSAGE, mine[0]): keys[2],
        (PASSAGE, mine[2]): keys[2],
    }
    theirs = {MEMORY: keys, PASSAGE: mine}
    assert await database.read(lambda conn, user: ask(conn, user, theirs)(), ben) == {}


async def test_windows_of_time(storage: Storage, ana: UserKey, ben: UserKey) -> None:
    database = storage.database
    week = Interval(NOW + 7 * DAY, NOW + 8 * DAY)
    for user in ("ana", "ben"):
        await database.write_all(say, "The regatta is next week.", user=user)
    await database.write_all(understand, "a regatta ticket", tells_of=week)
    await database.write_all(embed)
    (mine,) = await database.read(passages, ana)
    around = Interval(NOW + 6 * DAY, NOW + 9 * DAY)
    said, unsaid, happening, of_memory, not_then = await storage.engine.search(
        ana,
        SaidIn(PASSAGE, Interval(NOW, NOW + DAY), sought("regatta"), 9),
        SaidIn(PASSAGE, around, sought("regatta"), 9),
        HappenedIn(PASSAGE, around, 9),
        HappenedIn(MEMORY, around, 9),
        HappenedIn(PASSAGE, Interval(NOW, NOW + DAY), 9),
    )
    assert [key for key, _ in said] == [key for key, _ in happening] == [mine]
    assert len(of_memory) == 1 and unsaid == not_then == []

    def times(
        conn: Connection, user: UserKey
    ) -> tuple[set[int], dict[int, tuple[TimedWords, ...]]]:
        within = queries.event_times.ask_within(conn, user, PASSAGE, [mine], around)
        named = queries.event_times.ask_named(conn, user, PASSAGE, [mine])
        return within(), named()

    within, named = await database.read(times, ana)
    assert within == {mine}
    assert [one.interval for one in named[mine]] == [week]
    await database.write_all(say, "It is windy then.", session="quay")
    await database.write_all(understand, "a sail", tells_of=week)
    for limit in (1, 2):
        (found,) = await storage.engine.search(ana, HappenedIn(PASSAGE, around, limit))
        assert len(found) == limit


async def test_a_loaded_index_follows_another_openings_writes(
    storage: Storage, second: Database, ana: UserKey
) -> None:
    words = LexicalSearch(PASSAGE, ["ferry"], 9)
    nearest = VectorSearch(PASSAGE, sought(f"Skipper: {LINES[0]}"), 1)
    assert await storage.engine.search(ana, words, nearest) == [[], []]
    await second.write_all(say, *LINES)
    found, _ = await storage.engine.search(ana, words, nearest)
    assert len(found) == 2
    await second.write_all(embed)
    first, *_ = await second.read(passages, ana)
    _, ((key, score),) = await storage.engine.search(ana, words, nearest)
    assert key == first and score == pytest.approx(1, abs=1e-2)
    await second.write(queries.index_entries.remove, ana, PASSAGE, first)
    found, ((key, _),) = await storage.engine.search(ana, words, nearest)
    assert key != first and len(found) == 1
    storage.engine.drop(ana)
    assert len((await storage.engine.search(ana, words))[0]) == 1


async def test_a_search_has_a_deadline(storage: Storage, ana: UserKey) -> None:
    await storage.database.write_all(say, *LINES)
    search = LexicalSearch(PASSAGE, ["ferry"], 9)
    with pytest.raises(DeadlineExceeded):
        await storage.engine.search(ana, search, until=time.monotonic() - 1)
    assert storage.engine._indexes.index(PASSAGE, ana).loaded, "the next search is in time"
    (found,) = await storage.engine.search(ana, search, until=time.monotonic() + 60)
    assert len(found) == 2


async def test_searches_at_the_same_time_rank_as_each_alone(storage: Storage, ana: UserKey) -> None:
    await storage.database.write_all(talk)
    searches: list[Search] = [
        LexicalSearch(PASSAGE, ["ferry"], 9),
        VectorSearch(PASSAGE, sought("The ferry is late."), 9),
        EntitySearch(["Ana"], 9),
    ]
    alone = [await storage.engine.search(ana, search) for search in searches]
    together = await asyncio.gather(*(storage.engine.search(ana, search) for search in searches))
    assert together == alone and alone[0][0] and alone[1][0]
    failed = await asyncio.gather(
        *(storage.engine.search(ana, search, until=0.0) for search in searches),
        return_exceptions=True,
    )
    assert [type(error) for error in failed] == [DeadlineExceeded] * len(searches)


async def test_damaged_values_and_terms_are_found_and_mended(
    database: Database, ana: UserKey
) -> None:
    await database.write_all(talk)
    await database.write_all(note, "The anchor is rusty.", ana)
    assert await database.read_all(queries.maintenance.faults) == []
    assert await database.read_all(queries.reembedding.dimension) == LetterEncoder.dimension

    def break_rows(conn: Connection, user: UserKey) -> None:
        first, second, *_ = passages(conn, user)
        conn.execute("UPDATE passages SET vector = ? WHERE id = ?", (b"12", first))
        conn.execute("UPDATE decisions SET changes = '{x'")
        conn.search.remove_terms(conn, user, PASSAGE, second)

    await database.write(break_rows, ana)
    faults = await database.read_all(queries.maintenance.faults)
    damaged = await database.read_all(queries.damage.faults)
    assert {fault.what for fault in damaged} == {
        "values of passages that cannot be read",
        "values of decisions that cannot be read",
    }
    index = {fault.what for fault in faults if fault.where == "index"}
    assert index == {"passages not found by their words"}
    await database.write_all(queries.damage.mend)
    assert await database.read_all(queries.damage.faults) == []
    await database.write_all(queries.maintenance.repair)
    assert await database.read_all(queries.maintenance.faults) == []
    assert await database.write_all(embed) == 1
    assert await database.read_all(queries.maintenance.faults) == []
