"""Runs a fleet, kills and restarts parts of it, and verifies what is left."""

import asyncio
import logging
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.progress import Progress

from eval.bench.fleet.bot import Task
from eval.bench.fleet.log import Entry
from eval.bench.fleet.processes import Fleet
from eval.bench.fleet.verification import Verified, all_turns, verify
from eval.output import progress_bars
from hotmem.core.location import ServerUrl
from hotmem.errors import InvalidInput, StoreError
from hotmem.storage import open_storage, queries
from hotmem.storage.database import Connection, Database
from hotmem.storage.spool import path_of, waiting_in

SPAN: Final = (0.1, 0.9)
"""Part of the time in which kills and the restart happen."""

CHECK_S: Final = 0.02
"""Seconds between two looks at the leases of a worker that is to be killed or was."""

LEASE_WAIT_S: Final = 10.0
"""Seconds at most to wait for a worker that has a lease, which is then killed."""

TAKEOVER_S: Final = 120.0
"""Seconds at most to wait for the takeover; a lease lasts a minute."""

IDLE_S: Final = 1.0
"""Seconds between two looks for jobs once all calls are over."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What happens.

    Attributes:
        bots: Bot processes.
        workers: Worker processes.
        users: Users, spread over the bots.
        minutes: Minutes from the first call to the last.
        exchanges: Utterances of the user in a call.
        pause_s: Seconds from one of them to the next.
        killed_bots: Bots that are killed.
        killed_workers: Workers that are killed.
        restart: Command that restarts the server; empty: it is not restarted.
        settle_minutes: Minutes at most for the jobs that are left after the last call.
        seed: Seed of the times and of the bots that are killed.
    """

    bots: int
    workers: int
    users: int
    minutes: float
    exchanges: int
    pause_s: float
    killed_bots: int
    killed_workers: int
    restart: str
    settle_minutes: float
    seed: int


@dataclass(frozen=True, slots=True)
class Delays:
    """Delays that the memory added to contexts, ms."""

    number: int
    p50: float
    p95: float
    max: float

    @classmethod
    def of(cls, milliseconds: Sequence[float]) -> "Delays | None":
        """Return the distribution; None without any."""
        if not milliseconds:
            return None
        p50, p95 = np.percentile(milliseconds, [50, 95]).tolist()
        return cls(len(milliseconds), p50, p95, max(milliseconds))


@dataclass(frozen=True, slots=True)
class Result:
    """Results.

    Attributes:
        plan: What was to happen.
        verified: Turns, compared with the database.
        added: Delays of all contexts.
        outage: Delays of contexts while the server was restarted.
        outage_s: Duration of the restart; None without one.
        restarted: Whether the command succeeded; True without one.
        takeover_s: Seconds until the leases of each killed worker were released or taken over;
            None if it had none, or they were not.
        settled_s: Seconds from the last call until no job was left.
        jobs_left: Jobs left then.
        set_aside: Jobs that failed for good.
        in_spools: Turns left in spools.
        crashed: Processes that ended with an error by themselves.
        errors: Errors that the memory told, by stage and name.
        worker_errors: Errors that workers logged.
        memory_mb: Private memory of all processes near the end, MiB.
    """

    plan: Plan
    verified: Verified
    added: Delays | None
    outage: Delays | None
    outage_s: float | None
    restarted: bool
    takeover_s: list[float | None]
    settled_s: float
    jobs_left: int
    set_aside: int
    in_spools: int
    crashed: int
    errors: dict[str, int]
    worker_errors: int
    memory_mb: float

    @property
    def broken(self) -> list[str]:
        """Guarantees that do not hold."""
        turns = self.verified
        found = {
            "acknowledged turns are lost": turns.lost,
            "turns are doubled": turns.doubled,
            "turns were lost without an error": turns.silent,
            "sessions are out of order": turns.disordered,
            "words of other users were delivered": turns.foreign,
            "utterances were not answered": turns.unanswered,
            "jobs are left": self.jobs_left,
            "jobs failed for good": self.set_aside,
            "turns are left in spools": self.in_spools,
            "processes crashed": self.crashed,
            "restarts failed": not self.restarted,
        }
        return [f"{int(number)} {name}" for name, number in found.items() if number]


async def measure(url: str, plan: Plan, folder: Path) -> Result:
    """Run the fleet and verify.

    Args:
        url: An empty PostgreSQL database.
        plan: What happens.
        folder: Folder for logs and spools, without logs of an earlier run.

    Raises:
        InvalidInput: If the database holds a memory, or the folder logs.
    """
    if await asyncio.to_thread(lambda: any(folder.glob("bot-*"))):
        raise InvalidInput(f"{folder} holds logs of another run. Name an empty folder.")
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # the restart is meant
    database = (await asyncio.to_thread(open_storage, ServerUrl(url))).database
    try:
        if await database.read_all(queries.users.names, 1):
            raise InvalidInput(f"{database.location} holds a memory. Name an empty database.")
        fleet = Fleet(url, folder)
        try:
            with progress_bars() as progress:
                return await _Run(plan, fleet, database, progress).run(url)
        finally:
            await fleet.close()
    finally:
        await database.close()


class _Run:
    """One run."""

    def __init__(self, plan: Plan, fleet: Fleet, database: Database, progress: Progress) -> None:
        self._plan = plan
        self._fleet = fleet
        self._database = database
        self._progress = progress
        self._log = fleet.events
        self._random = random.Random(plan.seed)
        self._until = 0.0
        self._takeover_s: list[float | None] = []
        self._restart: tuple[float, float] | None = None
        self._restarted = True

    async def run(self, url: str) -> Result:
        """Run it."""
        plan, fleet = self._plan, self._fleet
        starting = self._progress.add_task("starting", total=plan.bots + plan.workers)
        for _ in range(plan.workers):
            await fleet.add_worker()
            self._progress.advance(starting)
        for bot in range(plan.bots):
            await fleet.add_bot(self._task(bot, url))
            self._progress.advance(starting)
        await fleet.ready()
        self._until = time.time() + plan.minutes * 60
        for bot in range(plan.bots):
            await fleet.begin(bot, self._until)
        talking = asyncio.create_task(self._watch())
        await asyncio.gather(*self._events())
        memory_mb = await talking
        await fleet.end_bots()
        began = time.monotonic()
        jobs_left = await self._idle()
        settled_s = time.monotonic() - began
        await fleet.end_workers()
        return await self._result(url, memory_mb, settled_s, jobs_left)

    def _task(self, bot: int, url: str) -> Task:
        plan = self._plan
        return Task(
            number=bot,
            url=url,
            log=str(self._fleet.log(bot).path),
            users=tuple(range(bot, plan.users, plan.bots)),
            first=0,
            exchanges=plan.exchanges,
            pause_s=plan.pause_s,
            delay_s=plan.pause_s * bot / plan.bots,
        )

    def _events(self) -> list[Awaitable[None]]:
        """What happens, each at a random time within a part of the time that is its own."""
        plan = self._plan
        bots = self._random.sample(range(plan.bots), min(plan.killed_bots, plan.bots))
        events: list[Callable[[], Awaitable[None]]] = [
            *(partial(self._kill_bot, bot) for bot in bots),
            *[self._kill_worker] * plan.killed_workers,
            *[self._restart_server] * bool(plan.restart),
        ]
        self._random.shuffle(events)
        duration, (first, last) = plan.minutes * 60, SPAN
        part = (last - first) / max(1, len(events))
        return [
            _later(duration * (first + part * (place + self._random.random())), event)
            for place, event in enumerate(events)
        ]

    async def _watch(self) -> float:
        """Show the time; return the memory of all processes at the end."""
        bar = self._progress.add_task("talking", total=self._plan.minutes * 60)
        while (left := self._until - time.time()) > 0:
            self._progress.update(bar, completed=self._plan.minutes * 60 - left)
            await asyncio.sleep(min(1.0, left))
        self._progress.update(bar, completed=self._plan.minutes * 60)
        return self._fleet.memory_mb()

    async def _kill_bot(self, bot: int) -> None:
        self._log.write(Entry.KILLED, bot=bot)
        await self._fleet.replace_bot(bot, self._until)

    async def _kill_worker(self) -> None:
        """Kill a worker at work, if there is one, and wait until its leases are taken over."""
        owner, pid = await self._working()
        self._log.write(Entry.KILLED, worker=pid, owner=owner)
        replacing = asyncio.create_task(self._fleet.replace_worker(pid))
        began = time.monotonic()
        taken_s = None
        while owner and taken_s is None and time.monotonic() < began + TAKEOVER_S:
            owners = await self._lease_owners()
            if owners is not None and owner not in owners:
                taken_s = time.monotonic() - began
            await asyncio.sleep(CHECK_S)
        self._takeover_s.append(taken_s)
        self._log.write(Entry.TAKEN_OVER, owner=owner, seconds=taken_s)
        await replacing

    async def _working(self) -> tuple[str, int]:
        """Return the lease owner and the process of a worker that has a lease, or of any.

        One that has a lease is stopped.
        """
        pids = self._fleet.worker_pids
        deadline = time.monotonic() + LEASE_WAIT_S
        while time.monotonic() < deadline:
            for owner in await self._lease_owners() or ():
                pid = int(owner.split("/")[1])
                if pid in pids:
                    os.kill(pid, signal.SIGSTOP)  # or it might release the lease before it dies
                    if owner in (await self._lease_owners() or ()):
                        return owner, pid
                    os.kill(pid, signal.SIGCONT)
            await asyncio.sleep(CHECK_S)
        return "", self._random.choice(pids)

    async def _lease_owners(self) -> list[str] | None:
        """Return the owners of leases; None while the server is being restarted."""
        with suppress(StoreError):
            return await self._database.read_all(queries.jobs.owners)
        return None

    async def _restart_server(self) -> None:
        began = time.time()
        self._log.write(Entry.STOPPED)
        process = await asyncio.create_subprocess_shell(self._plan.restart)
        self._restarted = await process.wait() == 0
        self._restart = began, time.time()
        self._log.write(Entry.RESTARTED, worked=self._restarted)

    async def _idle(self) -> int:
        """Wait until no job is left; return how many are left when the time is over."""
        bar = self._progress.add_task("background jobs", total=None)
        deadline = time.monotonic() + self._plan.settle_minutes * 60
        most = left = 0
        while time.monotonic() < deadline:
            left = await self._database.read_all(_unfinished)
            most = max(most, left)
            self._progress.update(bar, total=max(1, most), completed=most - left)
            if not left:
                break
            await asyncio.sleep(IDLE_S)
        return left

    async def _result(self, url: str, memory_mb: float, settled_s: float, jobs_left: int) -> Result:
        bots = range(self._plan.bots)
        logs = [list(self._fleet.log(bot).entries()) for bot in bots]
        spools = [path_of(ServerUrl(url), self._fleet.spool(bot)) for bot in bots]
        recalls = [entry for log in logs for entry in log if entry["kind"] == Entry.RECALL]
        begin, end = self._restart or (0.0, 0.0)
        return Result(
            plan=self._plan,
            verified=verify(logs, await self._database.read_all(all_turns)),
            added=Delays.of([one["ms"] for one in recalls]),
            outage=Delays.of([one["ms"] for one in recalls if begin <= _began(one) <= end]),
            outage_s=None if self._restart is None else end - begin,
            restarted=self._restarted,
            takeover_s=self._takeover_s,
            settled_s=settled_s,
            jobs_left=jobs_left,
            set_aside=len(await self._database.read_all(queries.job_failures.latest, 1000)),
            in_spools=sum(waiting_in(spool, None) for spool in spools),
            crashed=self._fleet.crashed,
            errors=dict(
                Counter(
                    entry["name"] for log in logs for entry in log if entry["kind"] == Entry.ERROR
                )
            ),
            worker_errors=self._fleet.worker_errors(),
            memory_mb=memory_mb,
        )


def _began(recall: dict[str, Any]) -> float:
    """When a context arrived at the memory, in seconds since 1970."""
    return float(recall["at"] - recall["ms"] / 1000)


def _unfinished(conn: Connection) -> int:
    """How many jobs wait or are under way, set aside ones left out."""
    waiting = sum(queries.jobs.waiting_counts(conn).values())
    retried = queries.job_failures.next_retry(conn, datetime.now(UTC)) is not None
    return waiting + retried + len(queries.jobs.owners(conn))


async def _later(seconds: float, event: Callable[[], Awaitable[None]]) -> None:
    await asyncio.sleep(seconds)
    await event()
