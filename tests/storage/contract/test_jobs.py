"""Background jobs: whose turn it is, failures, and leases of workers."""

import asyncio
from datetime import timedelta

import pytest

from hotmem.readings import store_understanding
from hotmem.storage import queries
from hotmem.storage.database import Connection, Database
from hotmem.storage.queries.jobs import LEASE_S, UserRotation
from hotmem.types import Category, FailedJob, JobKind, Turn, Understanding, UserKey
from tests.storage.contract.story import (
    ENCODER,
    NOW,
    embed,
    memories_of,
    note,
    pass_time,
    say,
    turn,
    understand,
)

SECOND = timedelta(seconds=1)
ATTEMPTS = 3
PAUSE_S = 1.0

FIRST = "first worker"
OTHER = "other worker"


def say_much(conn: Connection) -> None:
    """Ana says five things, Ben two, Cleo one."""
    for user, count in (("ana", 5), ("ben", 2), ("cleo", 1)):
        say(conn, *(f"Remark {number} of {user}." for number in range(count)), user=user)


def turns_of(claimed: list[tuple[int, Turn]]) -> list[str]:
    return [said.text for _, said in claimed]


async def fail(
    database: Database, kind: JobKind, key: int | str, user: UserKey | None = None, tries: int = 1
) -> None:
    for _ in range(tries):
        await database.write_all(
            queries.job_failures.record, kind, key, "ValueError", ATTEMPTS, PAUSE_S, NOW, user
        )


async def first_turn(database: Database) -> int:
    ((key, _), *_) = await database.read_all(queries.turns.waiting, UserRotation(), 1)
    return key


async def test_users_are_served_in_turn_and_each_users_turns_in_order(database: Database) -> None:
    await database.write_all(say_much)
    served = UserRotation()
    seen: list[str] = []
    for _ in range(8):
        waiting = await database.read_all(queries.turns.waiting, served, 1)
        seen += turns_of(waiting)
        for key, _ in waiting:
            await database.write_all(store_understanding, key, Understanding())
    users = [text.split()[-1] for text in seen]
    assert users == ["ana.", "ben.", "cleo.", "ana.", "ben.", "ana.", "ana.", "ana."]
    of_ana = [text for text in seen if text.endswith("ana.")]
    assert of_ana == [f"Remark {number} of ana." for number in range(5)]
    assert await database.read_all(queries.turns.waiting, served, 9) == []


async def test_a_batch_is_shared_between_users(database: Database) -> None:
    await database.write_all(say_much)
    batch = turns_of(await database.read_all(queries.turns.waiting, UserRotation(), 4))
    assert sorted(text.split()[-1] for text in batch) == ["ana.", "ana.", "ben.", "cleo."]
    for kind in (JobKind.TURN, JobKind.PASSAGE):
        assert (await database.read_all(queries.jobs.waiting_counts))[kind] == 8
        assert len(await database.read_all(queries.jobs.next_rows, kind, UserRotation(), 100)) == 8
        assert await database.read_all(queries.jobs.is_waiting, kind, FIRST)
    assert not await database.read_all(queries.jobs.is_waiting, JobKind.MEMORY, FIRST)


async def test_whose_jobs_wait(database: Database, ana: UserKey, ben: UserKey) -> None:
    assert not await database.read(queries.jobs.any_of, ana)
    await database.write_all(say, "The ferry is late.", user="ana")
    assert await database.read(queries.jobs.any_of, ana)
    assert not await database.read(queries.jobs.any_of, ben)
    await database.write_all(embed)
    await database.write_all(understand, "a boat")
    await database.write_all(embed)
    assert not await database.read(queries.jobs.any_of, ana)


async def test_a_failed_job_pauses_longer_each_time_and_is_set_aside(database: Database) -> None:
    await database.write_all(say, "Remark.")
    key = await first_turn(database)
    pauses = []
    for tries in range(1, ATTEMPTS):
        await fail(database, JobKind.TURN, key)
        assert await database.read_all(queries.turns.waiting, UserRotation(), 9) == []
        (failure,) = await database.read_all(queries.job_failures.latest, 9)
        assert (failure.piece, failure.user_id, failure.tries) == ("harbour-0", "ana", tries)
        again_at = failure.again_at
        assert again_at is not None and again_at == await database.read_all(
            queries.job_failures.next_retry, NOW
        )
        pauses.append(again_at - NOW)
        await database.write_all(queries.job_failures.resume, again_at - SECOND / 2)
        assert await database.read_all(queries.turns.waiting, UserRotation(), 9) == []
        await database.write_all(queries.job_failures.resume, again_at)
        assert len(await database.read_all(queries.turns.waiting, UserRotation(), 9)) == 1
        assert await database.read_all(queries.job_failures.next_retry, NOW) is None
    assert pauses == [SECOND, 4 * SECOND], "each four times as long"
    await fail(database, JobKind.TURN, key)
    assert await database.read_all(queries.job_failures.any_set_aside)
    assert await database.read_all(queries.job_failures.next_retry, NOW) is None
    assert await database.read_all(queries.job_failures.latest, 9) == [
        FailedJob("ana", JobKind.TURN, "harbour-0", ATTEMPTS, "ValueError", NOW, None)
    ]
    await database.write_all(queries.job_failures.resume, NOW + timedelta(days=9))
    assert await database.read_all(queries.turns.waiting, UserRotation(), 9) == []


async def test_a_failure_by_a_clock_that_was_ahead_is_retried_at_once(database: Database) -> None:
    await database.write_all(say_much)
    waiting = await database.read_all(queries.turns.waiting, UserRotation(), 2)
    (first, _), (other, _) = waiting
    ahead, record = NOW + timedelta(days=365), queries.job_failures.record
    await database.write_all(record, JobKind.TURN, first, "OSError", 2, 1.0, ahead, None)
    await database.write_all(record, JobKind.TURN, other, "OSError", 1, 1.0, ahead, None)
    assert await database.read_all(queries.job_failures.next_retry, NOW) == NOW
    await database.write_all(queries.job_failures.resume, NOW)
    assert await database.read_all(queries.job_failures.next_retry, NOW) is None
    assert await database.write_all(queries.job_failures.retry, NOW, 0, 9) == 1
    assert waiting == await database.read_all(queries.turns.waiting, UserRotation(), 2)


async def test_a_job_that_another_worker_did_meanwhile_has_not_failed(database: Database) -> None:
    await database.write_all(say, "Remark.")
    ((_, key, _),) = await database.read_all(queries.embedding.waiting, ENCODER, 9, UserRotation())
    await database.write_all(embed)
    await fail(database, JobKind.PASSAGE, key)
    assert await database.read_all(queries.job_failures.latest, 9) == []


async def test_a_job_of_one_user_that_fails_does_not_stop_the_others(database: Database) -> None:
    await database.write_all(say_much)
    key = await first_turn(database)
    await fail(database, JobKind.TURN, key, tries=ATTEMPTS)
    waiting = await database.read_all(queries.turns.waiting, UserRotation(), 100)
    assert len(waiting) == 7 and key not in [found for found, _ in waiting]


async def test_some_of_what_was_set_aside_is_retried(database: Database) -> None:
    await database.write_all(say_much)
    for key, _ in await database.read_all(queries.turns.waiting, UserRotation(), 100):
        await fail(database, JobKind.TURN, key, tries=ATTEMPTS)
    before = NOW + SECOND
    assert await database.write_all(queries.job_failures.retry, NOW, 0, 9) == 0, "it failed later"
    assert await database.write_all(queries.job_failures.retry, before, 0, 2) == 2
    waiting = await database.read_all(queries.turns.waiting, UserRotation(), 100)
    assert len(waiting) == 2
    for key, _ in waiting:
        await database.write_all(
            queries.job_failures.record, JobKind.TURN, key, "OSError", ATTEMPTS, 1.0, before, None
        )
    assert await database.write_all(queries.job_failures.retry, before, 2, 9) == 0, (
        "all failed again"
    )
    assert await database.write_all(queries.job_failures.retry, before, 3, 9) == 6


async def test_all_tries_are_given_back(database: Database) -> None:
    await database.write_all(say_much)
    key = await first_turn(database)
    await fail(database, JobKind.TURN, key, tries=ATTEMPTS)
    assert await database.write_all(queries.job_failures.reset_all) == 1
    assert len(await database.read_all(queries.turns.waiting, UserRotation(), 100)) == 8
    assert await database.read_all(queries.job_failures.latest, 9) == []
    assert not await database.read_all(queries.job_failures.any_set_aside)
    await fail(database, JobKind.TURN, key)
    (failure,) = await database.read_all(queries.job_failures.latest, 9)
    assert failure.tries == 1


async def test_failures_end_with_the_job(database: Database, ana: UserKey) -> None:
    await database.write_all(say, "Remark.")
    turn_key = await first_turn(database)
    (passage,) = await database.read_all(queries.jobs.next_rows, JobKind.PASSAGE, UserRotation(), 9)
    await fail(database, JobKind.TURN, turn_key)
    await fail(database, JobKind.PASSAGE, passage)
    await fail(database, JobKind.CATEGORY, Category.CONTEXTS, ana)
    assert len(await database.read_all(queries.job_failures.latest, 9)) == 3
    await database.write_all(queries.job_failures.resume, NOW + timedelta(hours=1))
    await database.write_all(understand, "a boat")
    await database.write_all(embed)
    (left,) = await database.read_all(queries.job_failures.latest, 9)
    assert (left.work, left.piece) == (JobKind.CATEGORY, Category.CONTEXTS)
    await database.write(queries.job_failures.clear, ana, JobKind.CATEGORY, Category.CONTEXTS)
    assert await database.read_all(queries.job_failures.latest, 9) == []
    await fail(database, JobKind.CATEGORY, Category.CONTEXTS, ana)
    await database.write(queries.forget.remove_user, ana)
    assert await database.read_all(queries.job_failures.latest, 9) == []


async def test_the_failure_of_a_job_that_is_gone_is_not_recorded(database: Database) -> None:
    await fail(database, JobKind.TURN, 99)
    assert await database.read_all(queries.job_failures.latest, 9) == []


async def test_a_session_is_summarised_once_it_ends(database: Database, ana: UserKey) -> None:
    await database.write_all(say, "Remark.", session="harbour")
    await database.write_all(say, "Another.", session="cabin")
    await database.write_all(embed)
    assert await database.read_all(queries.jobs.next_session, UserRotation()) == (None, False)
    assert await database.write(queries.sessions.end, ana, "cabin")
    assert not await database.write(queries.sessions.end, ana, "attic")
    due, _ = await database.read_all(queries.jobs.next_session, UserRotation())
    assert due is not None and due.user == ana
    assert await database.read(queries.sessions.unsummarised, ana, due.key) is not None
    await database.write(queries.sessions.done, ana, due.key)
    assert await database.read_all(queries.jobs.next_session, UserRotation()) == (None, False)
    assert not await database.read_all(queries.jobs.any_idle_session, NOW, 60)
    later = NOW + timedelta(minutes=5)
    assert await database.read_all(queries.jobs.any_idle_session, later, 60)
    await database.write_all(queries.jobs.end_idle_sessions, later, 60)
    other, _ = await database.read_all(queries.jobs.next_session, UserRotation())
    assert other not in (None, due)


async def test_a_session_waits_for_its_passages(database: Database, ana: UserKey) -> None:
    await database.write_all(say, "Remark.")
    await database.write(queries.sessions.end, ana, "harbour")
    found, _ = await database.read_all(queries.jobs.next_session, UserRotation())
    assert found is None
    await database.write_all(embed)
    found, _ = await database.read_all(queries.jobs.next_session, UserRotation())
    assert found is not None


async def test_a_lease_keeps_other_workers_from_a_users_jobs(database: Database) -> None:
    await database.write_all(say_much)
    claim = queries.claims.claim
    claimed = await database.write_all(claim, ENCODER, UserRotation(), FIRST, 99, 1)
    assert len(claimed.turns) == 1 and len(claimed.texts) == 8
    other = await database.write_all(claim, ENCODER, UserRotation(), OTHER, 99, 99)
    assert {said.user_id for _, said in other.turns} == {"ben", "cleo"} and other.texts == []
    assert not await database.read_all(queries.jobs.is_waiting, JobKind.PASSAGE, OTHER)
    assert sorted(await database.read_all(queries.jobs.owners)) == [FIRST, OTHER]
    assert await database.read_all(queries.jobs.any_other, FIRST)
    assert await database.read_all(queries.jobs.any_leased, FIRST)
    await database.write_all(queries.jobs.release_all, FIRST)
    assert not await database.read_all(queries.jobs.any_leased, FIRST)
    again = await database.write_all(claim, ENCODER, UserRotation(), OTHER, 99, 99)
    assert len(again.texts) == 8 and len(again.turns) == 8


async def test_two_workers_never_claim_the_same_job(database: Database, second: Database) -> None:
    await database.write_all(say_much)
    first, other = await asyncio.gather(
        database.write_all(queries.claims.claim, ENCODER, UserRotation(), FIRST, 3, 3),
        second.write_all(queries.claims.claim, ENCODER, UserRotation(), OTHER, 3, 3),
    )
    assert not {key for key, _ in first.turns} & {key for key, _ in other.turns}
    assert not {key for _, key, _ in first.texts} & {key for _, key, _ in other.texts}


async def test_an_expired_lease_is_taken_over(database: Database, ana: UserKey) -> None:
    await database.write_all(say, "Remark.")
    await database.write_all(queries.claims.claim, ENCODER, UserRotation(), FIRST, 9, 9)
    await database.write_all(pass_time, LEASE_S - 5)
    assert not await database.read_all(queries.claims.any_waiting, ENCODER, OTHER)
    assert not await database.read(queries.jobs.is_free, ana, OTHER, JobKind.TURN)
    await database.write_all(pass_time, 5)
    assert await database.read_all(queries.claims.any_waiting, ENCODER, OTHER)
    assert await database.read(queries.jobs.is_free, ana, OTHER, JobKind.TURN)
    assert not await database.read_all(queries.jobs.any_other, OTHER)
    claimed = await database.write_all(queries.claims.claim, ENCODER, UserRotation(), OTHER, 9, 9)
    assert len(claimed.turns) == len(claimed.texts) == 1
    assert await database.read_all(queries.jobs.owners) == [OTHER]


async def test_a_lease_is_extended_by_its_owner(database: Database, ana: UserKey) -> None:
    await database.write_all(queries.jobs.take, FIRST, JobKind.TURN, [ana])
    await database.write_all(pass_time, LEASE_S / 2)
    await database.write_all(queries.jobs.take, FIRST, JobKind.TURN, [ana])
    await database.write_all(pass_time, LEASE_S / 2)
    assert not await database.read(queries.jobs.is_free, ana, OTHER, JobKind.TURN)
    assert await database.read(queries.jobs.is_free, ana, OTHER, JobKind.PASSAGE)
    await database.write_all(queries.jobs.release_kind, FIRST, JobKind.PASSAGE)
    await database.write(queries.jobs.release, ana, FIRST, JobKind.PASSAGE)
    assert await database.read_all(queries.jobs.any_leased, FIRST)
    await database.write_all(queries.jobs.release_kind, OTHER, JobKind.TURN)
    await database.write(queries.jobs.release, ana, OTHER, JobKind.TURN)
    assert await database.read_all(queries.jobs.any_leased, FIRST)


async def test_a_renewal_extends_leases_and_takes_none_back(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    await database.write_all(queries.jobs.take, FIRST, JobKind.TURN, [ana, ben])
    await database.write_all(pass_time, LEASE_S)
    await database.write_all(queries.jobs.take, OTHER, JobKind.TURN, [ben])
    await database.write_all(queries.jobs.renew, FIRST)
    assert not await database.read(queries.jobs.is_free, ana, "third", JobKind.TURN)
    await database.write_all(queries.jobs.release_all, OTHER)
    assert await database.read(queries.jobs.is_free, ben, "third", JobKind.TURN)


async def test_a_finished_job_of_one_user_leaves_the_leases_of_others(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    def store(conn: Connection, user: UserKey, text: str) -> UserKey:
        note(conn, text, user)
        return user

    await database.write_all(queries.jobs.take, FIRST, JobKind.SESSION, [ana, ben])
    finish = queries.claims.finish
    assert await database.write(finish, ana, FIRST, JobKind.SESSION, store, "It leaks.") == ana
    assert await database.read(memories_of, ana) == ["It leaks."]
    assert await database.read(queries.jobs.is_free, ana, OTHER, JobKind.SESSION)
    assert not await database.read(queries.jobs.is_free, ben, OTHER, JobKind.SESSION)


async def test_finished_jobs_release_their_leases(database: Database) -> None:
    await database.write_all(say, "Remark.")
    await database.write_all(queries.claims.claim, ENCODER, UserRotation(), FIRST, 9, 9)
    finish = queries.claims.finish_all
    said = turn("More.", name="t2")
    stored = await database.write_all(finish, FIRST, JobKind.TURN, queries.turns.add, said, now=NOW)
    assert stored and await database.read_all(queries.jobs.any_leased, FIRST)
    with pytest.raises(ZeroDivisionError):
        await database.write_all(finish, FIRST, JobKind.PASSAGE, lambda conn: 1 // 0)
    assert await database.read_all(queries.jobs.any_leased, FIRST), "rolled back"
    await database.write_all(finish, FIRST, JobKind.PASSAGE, embed)
    assert not await database.read_all(queries.jobs.any_leased, FIRST)


async def test_sessions_and_categories_are_claimed_by_one_worker(
    database: Database, ana: UserKey
) -> None:
    await database.write_all(say, "Remark.")
    await database.write_all(embed)
    await database.write(queries.sessions.end, ana, "harbour")
    session, _ = await database.read_all(queries.jobs.next_session, UserRotation())
    assert session is not None
    claim_session, claim_category = queries.claims.claim_session, queries.claims.claim_category
    assert await database.write(claim_session, ana, FIRST, session.key)
    assert await database.write(claim_session, ana, FIRST, session.key)
    assert not await database.write(claim_session, ana, OTHER, session.key)
    assert not await database.write(claim_session, ana, FIRST, 99)
    assert await database.write(claim_category, ana, FIRST)
    assert not await database.write(claim_category, ana, OTHER)
    await database.write_all(pass_time, LEASE_S)
    assert await database.write(claim_category, ana, OTHER)


async def test_kinds_of_rows_to_embed_take_turns() -> None:
    served = UserRotation()
    first = [next(queries.jobs.embedding_kinds(served)) for _ in range(4)]
    assert first == [JobKind.PASSAGE, JobKind.MEMORY, JobKind.SUMMARY, JobKind.PASSAGE]


async def test_the_oldest_waiting_turn(database: Database) -> None:
    assert await database.read_all(queries.jobs.oldest_turn) is None
    await database.write_all(say, "One", "Two")
    assert await database.read_all(queries.jobs.oldest_turn) == NOW
