"""Guarantees of `hotmem.storage.database`."""

import asyncio
import time
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from threading import Event

import pytest

from hotmem.errors import DeadlineExceeded, InvalidInput, MemoryClosed, StoreError
from hotmem.storage import queries
from hotmem.storage.database import Connection, Database
from hotmem.types import (
    START_WEIGHTS,
    EvidenceKind,
    Intent,
    JobKind,
    LearningState,
    Leftovers,
    QualityRecord,
    Tally,
    UserKey,
)
from hotmem.types.maintenance import ForgetEverything
from tests.conversation import user_of
from tests.storage.contract.conftest import Open
from tests.storage.contract.story import (
    NOW,
    embed,
    memories_of,
    note,
    passages,
    postings,
    say,
    texts_of,
    turn,
    understand,
    user_key,
)

DAY = timedelta(days=1)
WRITES = 20


def endless(conn: Connection, user: UserKey) -> int:
    """Run a statement that does not end."""
    return int(
        conn.scalar(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i % 9 + 1 FROM n)"
            " SELECT count(*) FROM n"
        )
    )


def in_order(conn: Connection, user: UserKey) -> list[str]:
    keys = [key for key, _ in queries.turns.of_user(conn, user, 0, 100)]
    return [said.text for _, said in queries.turns.of_keys(conn, user, keys)]


@pytest.mark.parametrize("back", [timedelta(seconds=1), timedelta(hours=2), 400 * DAY])
async def test_live_turns_stay_in_order_when_the_clock_is_set_back(
    database: Database, ana: UserKey, back: timedelta
) -> None:
    for number, at in enumerate((NOW, NOW - back, NOW - back, NOW - back + DAY)):
        said = turn(f"Remark {number}.", at=at, name=f"t{number}")
        await database.write_all(queries.turns.add, said, at)
    expected = [f"Remark {number}." for number in range(4)]
    assert await database.read(in_order, ana) == expected
    latest = await database.read(queries.turns.latest, ana, "harbour", 3)
    assert [said.text for said in latest] == expected[1:]
    exported = await database.read(queries.export_rows.turns, ana, 0, 9)
    moved = {one.turn.text: one.order_time for _, one in exported if one.order_time}
    assert "Remark 0." not in moved and moved["Remark 1."] > NOW


async def test_turns_of_the_past_are_ordered_by_their_time(
    database: Database, ana: UserKey
) -> None:
    for number, days in enumerate((0, 30, 10, 20)):
        said = turn(f"Day {days}.", at=NOW - days * DAY, name=f"t{number}")
        await database.write_all(queries.turns.add, said, NOW)
    assert await database.read(in_order, ana) == ["Day 30.", "Day 20.", "Day 10.", "Day 0."]


async def test_the_order_continues_after_reopening(
    open_database: Open, database: Database, ana: UserKey
) -> None:
    first = await database.write(queries.times.order_time, ana, 10**16, 10**16)
    await database.close()
    again = open_database()
    place = await again.write(queries.times.order_time, ana, 9 * 10**15, 9 * 10**15)
    assert place > first
    await again.write(queries.times.note, ana, place + 1000)
    assert await again.write(queries.times.order_time, ana, 9 * 10**15, 9 * 10**15) > place + 1000
    await again.write(queries.times.note_anew, ana)
    assert await again.write(queries.times.order_time, ana, 9 * 10**15, 9 * 10**15) < place
    await again.close()


async def test_the_same_turn_is_stored_once(database: Database, ana: UserKey) -> None:
    assert await database.write_all(queries.turns.add, turn("The tide is out."), NOW)
    assert not await database.write_all(queries.turns.add, turn("The tide is out."), NOW)
    with pytest.raises(InvalidInput):
        await database.write_all(queries.turns.add, turn("The tide is in."), NOW)
    assert await database.read(texts_of, ana) == ["The tide is out."]


async def test_users_with_the_same_words_names_and_sessions_are_apart(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    for user in ("ana", "ben"):
        await database.write_all(say, "My boat is Albatross.", "It leaks.", user=user)
    assert await database.write_all(understand, "Albatross", entities=["Albatross"]) == 4
    await database.write_all(embed)
    mine = await database.read(passages, ana)
    theirs = await database.read(passages, ben)
    assert len(mine) == len(theirs) == 2 and not set(mine) & set(theirs)
    assert await database.read(queries.evidence.load, ana, {EvidenceKind.PASSAGE: theirs}) == []

    def mentioning(conn: Connection, user: UserKey) -> list[int]:
        return queries.memories.ask_of_entities(conn, user, ["albatross"], 9)()

    assert len(await database.read(mentioning, ana)) == 1
    await database.write_all(note, "Only Ana's.", ana)
    await database.write_all(say, "Only Ana's.", user="ana", session="cabin")
    assert "Only Ana's." not in await database.read(memories_of, ben)
    assert await database.read(queries.turns.latest, ben, "cabin", 9) == []
    assert len(await database.read(queries.turns.latest, ben, "harbour", 9)) == 2
    assert await database.read_all(queries.users.names, 9) == ["ana", "ben"]
    listed = await database.read_all(queries.users.overview, 9)
    assert [(one.user_id, one.turns, one.memories) for one in listed] == [
        ("ana", 3, 2),
        ("ben", 2, 1),
    ]
    assert all(one.last_said is not None for one in listed)
    assert await database.read(queries.users.name, ben) == "ben"
    await database.write_all(queries.users.set_speaker, "ben", "Benjamin")
    assert await database.read(queries.sessions.speaker, ben) == "Benjamin"
    assert await database.read_all(queries.users.find, "cleo") is None


async def test_an_error_rolls_everything_back(database: Database, ana: UserKey) -> None:
    def fail(conn: Connection) -> None:
        say(conn, "My boat is Albatross.")
        note(conn, "The boat leaks.", ana)
        user_key(conn, "dora")
        raise ZeroDivisionError

    def twice(conn: Connection) -> None:
        for _ in range(2):
            conn.execute("INSERT INTO users (public_id) VALUES (?)", ("dora",))

    with pytest.raises(ZeroDivisionError):
        await database.write_all(fail)
    with pytest.raises(StoreError, match="rolled back"):
        await database.write_all(twice)
    assert await database.read_all(queries.users.names, 9) == ["ana"]
    assert await database.read(texts_of, ana) == [] == await database.read(memories_of, ana)
    assert await database.read(passages, ana) == []
    found = await database.read_all(lambda conn: postings(conn, ana, "albatross"))
    assert found == []
    await database.write_all(say, "My boat is Albatross.")
    assert await database.read(texts_of, ana) == ["My boat is Albatross."]


async def test_a_rehearsal_returns_the_result_and_changes_nothing(
    database: Database, ana: UserKey
) -> None:
    def count(conn: Connection, user: UserKey) -> int:
        say(conn, "My boat is Albatross.")
        return len(texts_of(conn, user))

    def add(conn: Connection, user: UserKey, text: str) -> bool:
        name = queries.users.name(conn, user)
        return queries.turns.add(conn, turn(text, user=name, name="harbour-0"), NOW)

    assert await database.rehearse(count, ana) == 1
    assert await database.read(texts_of, ana) == [] and not await database.read(passages, ana)
    assert await database.write(count, ana) == 1
    with pytest.raises(InvalidInput):
        await database.rehearse(add, ana, "Other words.")
    assert await database.read(texts_of, ana) == ["My boat is Albatross."]


async def test_a_function_about_one_user_is_given_that_user(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    def given(conn: Connection, user: UserKey, greeting: str, *, to: str) -> tuple[str, str, str]:
        return greeting, to, queries.users.name(conn, user)

    inline = database.inline()
    for user, name in ((ana, "ana"), (ben, "ben")):
        expected = ("Hello", "all", name)
        assert await database.read(given, user, "Hello", to="all") == expected
        assert await database.write(given, user, "Hello", to="all") == expected
        assert await database.rehearse(given, user, "Hello", to="all") == expected
        assert await inline.read(given, user, "Hello", to="all") == expected
        assert await inline.read_until(None, given, user, "Hello", to="all") == expected


async def test_users_are_locked_within_a_write(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    def once_more(conn: Connection, user: UserKey) -> list[str]:
        conn.lock_user(user)
        note(conn, "It leaks.", user)
        return memories_of(conn, user)

    def all_of(conn: Connection, users: list[UserKey]) -> list[list[str]]:
        queries.users.lock_users(conn, users)
        queries.users.lock_owners(conn, "memories", [1, 99])
        return [once_more(conn, user) for user in users]

    assert await database.write(once_more, ana) == ["It leaks."]
    assert await database.write_all(all_of, [ben, ana, ben]) == [
        ["It leaks."],
        ["It leaks."] * 2,
        ["It leaks."] * 2,
    ]


async def test_concurrent_writes_of_one_user_lose_no_change(
    database: Database, second: Database, ana: UserKey
) -> None:
    """Each reads the user's text and appends to it."""

    def append(conn: Connection, user: UserKey, letter: str) -> None:
        latest = conn.execute("SELECT max(text) FROM memories WHERE user_key = ?", (user,))
        note(conn, f"{latest.fetchone()[0] or ''}{letter}", user)

    def append_locked(conn: Connection, letter: str) -> None:
        append(conn, queries.users.ensure(conn, "ana"), letter)

    await asyncio.gather(
        *(
            both.write(append, ana, "a") if number % 2 else both.write_all(append_locked, "a")
            for number in range(WRITES // 2)
            for both in (database, second)
        )
    )
    assert max(map(len, await database.read(memories_of, ana))) == WRITES


async def test_reads_cannot_write(database: Database) -> None:
    with pytest.raises(StoreError):
        await database.read_all(user_key, "ana")
    with pytest.raises(StoreError):
        await database.inline().read_all(user_key, "ana")
    assert await database.read_all(queries.users.names, 9) == []
    assert not database.read_only and database.location and database.blocked() is None


async def test_a_read_sees_one_state(database: Database) -> None:
    begun, written = Event(), Event()

    def read(conn: Connection) -> tuple[list[str], list[str]]:
        before = queries.users.names(conn, 9)
        begun.set()
        assert written.wait(10)
        return before, queries.users.names(conn, 9)

    reading = asyncio.create_task(database.read_all(read))
    await asyncio.to_thread(begun.wait, 10)
    await database.write_all(user_key, "ana")
    written.set()
    before, after = await reading
    assert before == after == []
    assert await database.read_all(queries.users.names, 9) == ["ana"]


async def test_a_deadline_stops_a_statement(database: Database, ana: UserKey) -> None:
    inline = database.inline()
    started = time.monotonic()
    with pytest.raises(DeadlineExceeded):
        await inline.read_until(started + 0.1, endless, ana)
    assert time.monotonic() - started < 2
    with pytest.raises(DeadlineExceeded):
        await inline.read_until(time.monotonic() - 1, queries.users.name, ana)
    assert await inline.read_until(time.monotonic() + 60, queries.users.name, ana) == "ana"
    assert await inline.read_until(None, queries.users.name, ana) == "ana"
    assert await inline.read(queries.users.name, ana) == "ana"


async def test_an_inline_read_sees_the_write_before_it(database: Database) -> None:
    inline = database.inline()
    for number in range(5):
        await database.write_all(user_key, f"user {number}")
        assert len(await inline.read_all(queries.users.names, 9)) == number + 1


async def test_what_was_written_is_there_after_reopening(
    open_database: Open, database: Database, ana: UserKey
) -> None:
    await database.write_all(say, "My boat is Albatross.")
    await database.write_all(understand, "Albatross")
    await database.write_all(embed)
    await database.close()
    await database.close()
    with pytest.raises(MemoryClosed):
        await database.read_all(queries.users.names, 9)
    with pytest.raises(MemoryClosed):
        await database.write_all(user_key, "ben")
    again = open_database()
    assert await again.read(texts_of, ana) == ["My boat is Albatross."]
    assert await again.read(memories_of, ana) == ["Skipper owns Albatross."]
    assert await again.read_all(lambda conn: postings(conn, ana, "albatross")) == [1]
    waiting = await again.read_all(queries.jobs.waiting_counts)
    assert waiting[JobKind.TURN] == waiting[JobKind.PASSAGE] == waiting[JobKind.MEMORY] == 0
    await again.close()


async def test_another_opening_sees_what_was_written(database: Database, second: Database) -> None:
    await database.write_all(user_key, "ana")
    assert await second.read_all(queries.users.names, 9) == ["ana"]
    await second.write_all(user_key, "ben")
    assert await database.inline().read_all(queries.users.names, 9) == ["ana", "ben"]


async def test_concurrent_writers_lose_no_turn_and_share_one_order(
    database: Database, second: Database, ana: UserKey
) -> None:
    both = (database, second)
    await asyncio.gather(
        *(
            both[number % 2].write_all(
                queries.turns.add, turn(f"Remark {number}.", name=f"t{number}"), NOW
            )
            for number in range(WRITES)
        )
    )
    exported = await second.read(queries.export_rows.turns, ana, 0, 2 * WRITES)
    assert len(exported) == WRITES
    moved = {one.order_time for _, one in exported if one.order_time}
    assert len(moved) == WRITES - 1, "all but the first have a later place"


async def test_writers_that_create_the_same_users_at_once(
    database: Database, second: Database
) -> None:
    both = (database, second)
    for user in ("cleo", "dora", "emil"):
        stored = await asyncio.gather(
            *(
                both[number % 2].write_all(
                    queries.turns.add,
                    turn(f"Remark {number % 3}.", user=user, name=f"t{number % 3}"),
                    NOW,
                )
                for number in range(WRITES)
            )
        )
        assert stored.count(True) == 3
    assert await database.read_all(queries.users.names, 9) == ["cleo", "dora", "emil"]


async def test_a_turn_of_a_user_who_is_forgotten_meanwhile_is_stored(
    database: Database, second: Database
) -> None:
    for number in range(WRITES):
        await database.write_all(say, "I like rain.")
        ana = await user_of(database)
        await asyncio.gather(
            database.write(queries.forget.remove, ana, ForgetEverything()),
            second.write_all(say, f"Remark {number}.", session="second"),
            second.write_all(say, f"Remark {number}.", session="third"),
        )
        left = await database.read_all(queries.users.find, "ana")
        texts = [] if left is None else await database.read(texts_of, left)
        assert set(texts) <= {f"Remark {number}."}
        if left is not None:
            await database.write(queries.forget.remove, left, ForgetEverything())


async def test_concurrent_writers_lose_no_step_of_learning(
    database: Database, second: Database, ana: UserKey
) -> None:
    def step(before: LearningState) -> LearningState:
        shifted = before.own.facts - 0.01
        return replace(
            before,
            own=replace(before.own, facts=shifted),
            lead=before.lead + 1,
            version=before.version + 1,
        )

    both = (database, second)
    await asyncio.gather(
        *(
            both[number % 2].write(queries.layer_weights.learn, ana, Intent.FACT, step, NOW)
            for number in range(WRITES)
        )
    )
    weights = await database.read(queries.layer_weights.weights, ana)
    assert weights.facts == pytest.approx(1 - WRITES * 0.01)
    history = await second.read(queries.layer_weights.over_time, ana, 100)
    assert [one.version for one in history] == list(range(WRITES, 0, -1))
    assert await database.write(queries.layer_weights.reset, ana, NOW) == START_WEIGHTS
    assert await second.read(queries.layer_weights.weights, ana) == START_WEIGHTS
    assert await second.read(queries.layer_weights.moved, ana) == {}


async def test_concurrent_writers_lose_no_count_of_quality(
    database: Database, second: Database, ana: UserKey, ben: UserKey
) -> None:
    both = (database, second)
    day = date(2026, 6, 1)
    record = QualityRecord(day, Intent.FACT, None, Tally(turns=1, given=3))
    await asyncio.gather(
        *(
            both[number % 2].write(queries.quality.add, ana, [record, record])
            for number in range(WRITES)
        )
    )
    (found,) = await second.read(queries.quality.of_user, ana, day, day)
    assert (found.tally.turns, found.tally.given) == (2 * WRITES, 6 * WRITES)
    assert await database.read(queries.quality.of_user, ben, None, None) == []
    assert not await database.write(queries.quality.put, ana, record)
    await database.write(queries.quality.subtract, ana, record)
    (found,) = await second.read(queries.quality.of_user, ana, None, None)
    assert found.tally.turns == 2 * WRITES - 1
    assert await database.read(queries.quality.of_user, ana, date(2026, 6, 2), None) == []


async def test_a_purge_keeps_what_is_stored(database: Database, ana: UserKey) -> None:
    await database.write_all(say, "My boat is Albatross.")
    database.purge_later()
    assert await database.purge(5) is not Leftovers.JOURNAL
    await database.retry_purge()
    assert await database.read(texts_of, ana) == ["My boat is Albatross."]


async def test_the_time_is_the_databases(database: Database) -> None:
    found = await database.read_all(queries.times.now)
    assert abs(found - datetime.now(UTC)) < timedelta(seconds=5)
