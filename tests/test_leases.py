"""Several workers on one memory: no job is done twice, and a dead worker's are taken over."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count as count_from
from pathlib import Path

import pytest

from hotmem import Memory, Options, job_runner
from hotmem.core.threads import new_process_id
from hotmem.job_runner import WorkerLeases
from hotmem.models import Language
from hotmem.models.encoder import Vectors
from hotmem.options import BackgroundMode
from hotmem.storage import queries
from hotmem.storage.queries import jobs, turns
from hotmem.storage.sqlite.connection import Connection, connect
from hotmem.types import JobKind
from tests import warm
from tests.conversation import said
from tests.letters import LetterEncoder
from tests.storage.contract.story import pass_time

NOW = datetime(2026, 3, 2, tzinfo=UTC)

USERS = ("ana", "ben", "cleo", "dora")
EACH = 8


class CountingEncoder(LetterEncoder):
    """Counts how often each text is embedded."""

    def __init__(self, counts: Counter[str]) -> None:
        self.counts = counts

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.counts.update(texts)
        return super().encode(texts)


class CountingLanguage:
    """Counts how often each text is parsed."""

    def __init__(self, language: Language, counts: Counter[str]) -> None:
        self._language = language
        self._counts = counts

    def parse(self, texts: Sequence[str], **named: bool) -> object:
        self._counts.update(texts)
        return self._language.parse(texts, **named)

    def __getattr__(self, name: str) -> object:
        return getattr(self._language, name)


def background(mode: BackgroundMode) -> Options:
    """Options whose background jobs run there."""
    options = Options()
    return replace(options, background=replace(options.background, mode=mode))


async def test_two_workers_do_no_job_twice(database: Path, language: Language) -> None:
    embedded, parsed = Counter[str](), Counter[str]()

    def opened() -> Memory:
        return Memory.open(
            database,
            encoder=CountingEncoder(embedded),
            language=CountingLanguage(language, parsed),  # type: ignore[arg-type]
        )

    async with opened() as first, opened() as second:
        for number in range(EACH):
            for place, user in enumerate(USERS):
                memory = (first, second)[(number + place) % 2]
                # what puts nothing in doubt, as a turn that does is parsed again to make sure
                text = f"There is a bird number {number * 7 + place} in Porto."
                await memory.remember(said(text, user=user, minutes=number, name=f"{number}"))
        await asyncio.gather(first.settle(), second.settle())
        assert not await first.runtime.database.read_all(queries.jobs.owners)
        for user in USERS:
            assert len([line async for line in first.export(user)]) > EACH
    passages = {text: count for text, count in embedded.items() if "bird number" in text}
    assert len(passages) >= len(USERS) * EACH
    whole = [count for text, count in passages.items() if ": " in text]
    assert whole and set(whole) == {1}
    turns_parsed = [count for text, count in parsed.items() if "bird number" in text]
    assert len(turns_parsed) == len(USERS) * EACH and set(turns_parsed) == {1}


STALLED = """
import asyncio, os, signal, sys
from pathlib import Path
from hotmem import Memory
from hotmem.models import load_language
from tests.letters import LetterEncoder
from tests.storage.contract.story import pass_time

class Stalled(LetterEncoder):
    def encode(self, texts):
        print("claimed", flush=True)
        os.kill(os.getpid(), signal.SIGSTOP)

async def main():
    async with Memory.open(sys.argv[1], encoder=Stalled(), language=load_language()) as memory:
        await memory.settle()

asyncio.run(main())
"""


@pytest.mark.parametrize("dies", [True, False], ids=["killed", "stopped"])
async def test_jobs_of_a_worker_that_stops_are_taken_over(
    dies: bool, database: Path, language: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    off = background(BackgroundMode.OFF)
    async with Memory.open(database, off, encoder=LetterEncoder(), language=language) as memory:
        for number in range(3):
            await memory.remember(said(f"I saw {number} herons.", name=str(number)))
    stalled = await asyncio.create_subprocess_exec(
        sys.executable, "-c", STALLED, str(database), stdout=subprocess.PIPE
    )
    assert stalled.stdout is not None
    try:
        assert (await asyncio.wait_for(stalled.stdout.readline(), 60)).strip() == b"claimed"
        with closing(connect(database, read_only=True)) as conn:
            assert jobs.owners(conn)
        if dies:
            os.kill(stalled.pid, signal.SIGKILL)
            await stalled.wait()
        else:  # as if a minute passed
            with closing(connect(database)) as conn:
                conn.execute("UPDATE leases SET expires_at = 0")
        async with Memory.open(database, encoder=LetterEncoder(), language=language) as memory:
            await asyncio.wait_for(memory.settle(), 30)
            waiting = await memory.runtime.database.read_all(queries.jobs.waiting_counts)
            assert not any(waiting.values())
    finally:
        if stalled.returncode is None:
            stalled.kill()
            await stalled.wait()


async def test_jobs_run_elsewhere_or_not_at_all(database: Path, language: Language) -> None:
    for mode in (BackgroundMode.OFF, BackgroundMode.ELSEWHERE):
        options = background(mode)
        async with Memory.open(
            database, options, encoder=LetterEncoder(), language=language
        ) as memory:
            await memory.remember(said("My dog is called Potola.", name=mode))
            assert (
                sum((await memory.runtime.database.read_all(queries.jobs.waiting_counts)).values())
                > 0
            )
            if mode is BackgroundMode.OFF:
                await memory.settle()
                assert (
                    sum(
                        (
                            await memory.runtime.database.read_all(queries.jobs.waiting_counts)
                        ).values()
                    )
                    > 0
                )
                block = await memory.recall("What is the dog Potola?", user_id="ana")
                assert "Potola" in block.text
                continue
            settled = asyncio.create_task(memory.settle())
            await asyncio.sleep(0.3)
            assert not settled.done()
            async with Memory.open(database, encoder=LetterEncoder(), language=language) as other:
                await other.settle()
                await asyncio.wait_for(settled, 5)
            assert [known.text for known in await memory.memories("ana")]


def test_a_worker_is_a_command(database: Path) -> None:
    """It works through what waits and stops."""

    async def remember() -> None:
        async with Memory.open(database, background(BackgroundMode.OFF)) as memory:
            await memory.remember(said("My dog is called Potola."))

    asyncio.run(remember())
    run = warm.run(["-m", "hotmem.cli.app", "worker", "--once", "--database", str(database)])
    assert run.returncode == 0, run.stderr
    assert "No job is left." in run.stdout
    with closing(connect(database, read_only=True)) as conn:
        assert not any(jobs.waiting_counts(conn).values()) and not jobs.owners(conn)


def test_a_lease_taken_by_a_clock_that_was_ahead_stops_nobody(conn: Connection) -> None:
    turns.add(conn, said("I am here."), NOW)
    assert jobs.next_rows(conn, JobKind.TURN, jobs.UserRotation(), 8, "ahead") == [1]
    pass_time(conn, -timedelta(days=365).total_seconds())
    right = "right"
    assert not jobs.any_other(conn, right)
    assert jobs.next_rows(conn, JobKind.TURN, jobs.UserRotation(), 8, right) == [1]


@pytest.mark.parametrize("waiting", [10, 1000])
def test_a_long_queue_of_another_worker_costs_no_more(conn: Connection, waiting: int) -> None:
    conn.execute("BEGIN")
    for number in range(waiting):
        turns.add(conn, said("I am here.", name=str(number)), NOW)
    turns.add(conn, said("Me too.", user="ben", name="last"), NOW)
    conn.execute("COMMIT")
    first, second = "first", "second"
    jobs.next_rows(conn, JobKind.TURN, jobs.UserRotation(), 1, first)
    steps = 0

    def counted() -> bool:
        nonlocal steps
        steps += 1
        return False

    conn.set_progress_handler(counted, 10)
    found = jobs.next_rows(conn, JobKind.TURN, jobs.UserRotation(), 8, second)
    conn.set_progress_handler(None)
    assert found == [waiting + 1]
    assert steps < 60


def test_leases_go_with_their_user(conn: Connection) -> None:
    turns.add(conn, said("I am here."), NOW)
    jobs.next_rows(conn, JobKind.TURN, jobs.UserRotation(), 8, "first")
    conn.execute("DELETE FROM users")
    assert count(conn) == 0


def count(conn: Connection) -> int:
    """Leases there are."""
    return int(conn.scalar("SELECT count(*) FROM leases"))


async def dead_worker() -> str:
    """A worker of this machine that has ended."""
    gone = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await gone.wait()
    return new_process_id().replace(f"/{os.getpid()}/", f"/{gone.pid}/")


async def test_jobs_of_a_worker_killed_beside_another_are_taken_over_at_once(
    lettered: Memory,
) -> None:
    await lettered.runtime.database.write_all(say_and_claim, await dead_worker())
    lettered.runtime.worker.wake()
    async with asyncio.timeout(5):
        while not await lettered.memories("ana"):  # noqa: ASYNC110 - another process does them
            await asyncio.sleep(0.01)


async def test_a_worker_that_is_never_idle_takes_over_too(lettered: Memory) -> None:
    async def keep_busy() -> None:
        for number in count_from(0):
            await lettered.remember(said(f"I have {number} gulls.", user="ben", name=f"{number}"))

    def claim_ana(conn: Connection, dead: str) -> None:
        turns.add(conn, said("My dog is called Potola."), NOW)
        jobs.take(conn, dead, JobKind.TURN, [queries.users.ensure(conn, "ana")])

    busy = asyncio.create_task(keep_busy())
    try:
        async with asyncio.timeout(5):
            while not await lettered.memories("ben"):  # noqa: ASYNC110 - another process does them
                await asyncio.sleep(0.01)
            await lettered.runtime.database.write_all(claim_ana, await dead_worker())
            while not await lettered.memories("ana"):  # noqa: ASYNC110 - another process does them
                await asyncio.sleep(0.01)
    finally:
        busy.cancel()
        await asyncio.gather(busy, return_exceptions=True)


async def test_settle_waits_for_a_job_that_pauses_elsewhere(database: Path) -> None:
    async with Memory.open(
        database, background(BackgroundMode.ELSEWHERE), encoder=LetterEncoder()
    ) as memory:
        write, now = memory.runtime.database.write_all, datetime.now(UTC)
        await write(say_and_claim, "other")
        await write(lambda conn: conn.execute("UPDATE passages SET held = 1"))
        await write(queries.job_failures.record, JobKind.TURN, 1, "OSError", 3, 9.0, now, None)
        settled = asyncio.create_task(memory.settle())
        done, _ = await asyncio.wait({settled}, timeout=0.3)
        assert not done
        settled.cancel()


def say_and_claim(conn: Connection, worker: str) -> None:
    """Stores a turn that a worker has claimed."""
    turns.add(conn, said("My dog is called Potola."), NOW)
    assert jobs.next_rows(conn, JobKind.TURN, jobs.UserRotation(), 8, worker) == [1]


async def test_jobs_beside_one_that_fails_keep_their_lease(
    database: Path, language: Language
) -> None:
    """A batch is run again in halves; the first half's result releases nothing."""
    async with Memory.open(database, background(BackgroundMode.OFF)) as memory:
        for number in range(4):
            await memory.remember(said(f"I am at place {number}.", name=str(number)))
    left: list[list[int]] = []
    done, loop = asyncio.Event(), asyncio.get_running_loop()

    class Watching(LetterEncoder):
        def encode(self, texts: Sequence[str]) -> Vectors:
            if any("place 0" in text for text in texts):
                raise MemoryError
            if any("place" in text for text in texts):
                with closing(connect(database)) as conn:
                    other, rotation = "other", jobs.UserRotation()
                    conn.execute("BEGIN")
                    left.append(jobs.next_rows(conn, JobKind.PASSAGE, rotation, 8, other))
                    conn.execute("ROLLBACK")
                if len(left) == 2:
                    loop.call_soon_threadsafe(done.set)
            return super().encode(texts)

    async with Memory.open(database, encoder=Watching(), language=language) as memory:
        await asyncio.wait_for(done.wait(), 5)
    assert not any(left)


async def test_the_lease_of_a_long_job_is_renewed(
    database: Path, language: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_runner, "RENEW_S", 0.02)
    begun, ended = threading.Event(), threading.Event()

    class Slow(LetterEncoder):
        def encode(self, texts: Sequence[str]) -> Vectors:
            begun.set()
            ended.wait(5)
            return super().encode(texts)

    async with Memory.open(database, encoder=Slow(), language=language) as memory:
        await memory.remember(said("My dog is called Potola."))
        await asyncio.to_thread(begun.wait, 5)
        expiries = set[int]()
        async with asyncio.timeout(5):
            while len(expiries) < 3:
                expiries.add(await memory.runtime.database.read_all(last_expiry))
                await asyncio.sleep(0.01)
        ended.set()
        await memory.settle()


def last_expiry(conn: Connection) -> int:
    """When the last lease expires."""
    return int(conn.scalar("SELECT max(expires_at) FROM leases"))


async def test_settle_does_not_miss_what_another_worker_releases(lettered: Memory) -> None:
    """The other one stops between the last round and the look whether it has jobs."""
    await lettered.settle()
    await lettered.runtime.database.write_all(say_and_claim, other := "other")
    settled, look = lettered.runtime.worker._settled, lettered.runtime.worker._settled.wait

    async def released() -> bool:
        await look()
        await lettered.runtime.database.write_all(jobs.release_all, other)
        return True

    settled.wait = released  # type: ignore[method-assign, assignment]  # spied on
    await lettered.settle()
    assert [known.text for known in await lettered.memories("ana")]


async def test_a_claim_that_is_cancelled_leaves_no_lease(database: Path) -> None:
    async with Memory.open(database, background(BackgroundMode.OFF)) as memory:
        own = WorkerLeases(memory.runtime.database, "own")
        begun, going = threading.Event(), threading.Event()

        def claim(conn: Connection) -> None:
            begun.set()
            going.wait(5)
            say_and_claim(conn, "own")

        claiming = asyncio.create_task(own.taken(memory.runtime.database.write_all(claim)))
        await asyncio.to_thread(begun.wait, 5)
        claiming.cancel()
        closing_leases = asyncio.create_task(own.close())
        await asyncio.sleep(0.05)
        going.set()
        await closing_leases
        assert not await memory.runtime.database.read_all(jobs.owners)
