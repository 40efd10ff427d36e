"""The processes of a fleet: bots and workers, which are killed and replaced."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from eval.bench.fleet.bot import Task
from eval.bench.fleet.log import Entry, Log
from eval.bench.scale import memory_mb

WORKER: Final = "from hotmem.cli.app import main; main()"

START_S: Final = 180.0
"""Seconds in which all processes must be ready."""

END_S: Final = 120.0
"""Seconds in which a process must end."""


class Fleet:
    """Running processes. Their output and the bots' logs are in one folder.

    Args:
        url: The database.
        folder: An existing folder.

    Attributes:
        crashed: Processes that ended by themselves with an error.
        events: Log of kills and restarts.
    """

    def __init__(self, url: str, folder: Path) -> None:
        self.crashed = 0
        self.events = Log(folder / "events.jsonl")
        self._url = url
        self._folder = folder
        self._bots: dict[int, Process] = {}
        self._tasks: dict[int, Task] = {}
        self._workers: dict[int, Process] = {}
        self._started = 0

    def log(self, bot: int) -> Log:
        """Return the log of a bot, of all its processes."""
        return Log(self._folder / f"bot-{bot}.jsonl")

    def spool(self, bot: int) -> Path:
        """Return the folder of a bot's spool."""
        return self._folder / f"spool-{bot}"

    async def add_bot(self, task: Task) -> None:
        """Start a bot, which waits for `begin`."""
        self._tasks[task.number] = task
        spool = str(self.spool(task.number))
        self._bots[task.number] = await self._start(
            f"bot-{task.number}",
            ["-m", "eval.bench.fleet.bot", task.to_json()],
            {"HOTMEM_BACKGROUND": "elsewhere", "HOTMEM_SPOOL_DIR": spool},
        )

    async def add_worker(self) -> None:
        """Start a worker, again until it runs, as a supervisor does.

        Raises:
            TimeoutError: If it does not run after `START_S`.
        """
        async with asyncio.timeout(START_S):
            while True:
                worker = await self._start(
                    f"worker-{self._started}", ["-c", WORKER, "worker", "-d", self._url], {}
                )
                assert worker.stdout is not None
                if await worker.stdout.readline():
                    self._workers[worker.pid] = worker
                    return
                await worker.wait()

    async def ready(self) -> None:
        """Wait until all bots are ready.

        Raises:
            TimeoutError: If they are not after `START_S`.
        """
        async with asyncio.timeout(START_S):
            for bot, process in self._bots.items():
                while not any(entry["kind"] == Entry.READY for entry in self.log(bot).entries()):
                    if process.returncode is not None:
                        raise RuntimeError(f"bot {bot} could not start; see {self._folder}")
                    await asyncio.sleep(0.1)

    async def begin(self, bot: int, until: float) -> None:
        """Let a bot begin; `until` is when its last call ends, in seconds since 1970."""
        stdin = self._bots[bot].stdin
        assert stdin is not None
        stdin.write(f"{until}\n".encode())
        await stdin.drain()

    async def replace_bot(self, bot: int, until: float) -> None:
        """Kill a bot and start it anew; calls go on with the next one."""
        process = self._bots[bot]
        process.send_signal(signal.SIGKILL)
        await process.wait()
        calls = sum(entry["kind"] == Entry.CALL for entry in self.log(bot).entries())
        await self.add_bot(replace(self._tasks[bot], first=calls, delay_s=0.0))
        await self.begin(bot, until)

    @property
    def worker_pids(self) -> list[int]:
        """Return the process ids of all workers."""
        return list(self._workers)

    async def replace_worker(self, pid: int) -> None:
        """Kill a worker and start another."""
        process = self._workers.pop(pid)
        process.send_signal(signal.SIGKILL)
        await process.wait()
        await self.add_worker()

    def worker_errors(self) -> int:
        """Return how many errors workers logged."""
        logs = self._folder.glob("worker-*.log")
        return sum(log.read_text("utf-8", "replace").count("ERROR: ") for log in logs)

    async def end_bots(self) -> None:
        """Wait until all bots have ended."""
        await asyncio.gather(*(self._end(process) for process in self._bots.values()))

    async def end_workers(self) -> None:
        """Stop the workers as an operator does."""
        for process in self._workers.values():
            process.send_signal(signal.SIGTERM)
        await asyncio.gather(*(self._end(process) for process in self._workers.values()))

    async def close(self) -> None:
        """Kill what still runs."""
        for process in (*self._bots.values(), *self._workers.values()):
            if process.returncode is None:
                process.kill()
                await process.wait()

    def memory_mb(self) -> float:
        """Return the private memory of all processes that run, MiB."""
        running = (*self._bots.values(), *self._workers.values())
        return sum(memory_mb(one.pid) for one in running if one.returncode is None)

    async def _end(self, process: Process) -> None:
        try:
            await asyncio.wait_for(process.wait(), END_S)
        except TimeoutError:
            process.kill()
            await process.wait()
        self.crashed += process.returncode != 0

    async def _start(self, name: str, arguments: list[str], settings: Mapping[str, str]) -> Process:
        self._started += 1
        with (self._folder / f"{name}.log").open("ab") as errors:
            return await asyncio.create_subprocess_exec(
                sys.executable,
                *arguments,
                stdin=PIPE,
                stdout=PIPE,
                stderr=errors,
                env=os.environ | {"PYTHONUNBUFFERED": "1"} | dict(settings),
            )
