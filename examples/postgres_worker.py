"""Bots on several machines with one PostgreSQL memory, and a worker for the background jobs.

    pip install "pipecat-hotmem[postgres]"
    export HOTMEM_DATABASE=postgresql://bot@db.example/hotmem
    hotmem migrate                  # once, as the owner of the database
    python postgres_worker.py bot   # in each bot: stores and recalls, runs no jobs
    hotmem worker                   # in one or more processes: facts, vectors, summaries

The same works with a file on one machine. docs/deploy.md has roles, poolers, backup and failover.
"""

import asyncio
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime

from hotmem import Memory, Turn
from hotmem.options import BackgroundMode, Options
from hotmem.settings import Settings


def bot_options() -> Options:
    """Options of the environment, with background jobs elsewhere (HOTMEM_BACKGROUND=elsewhere)."""
    options = Settings.from_environment().options()
    return replace(options, background=replace(options.background, mode=BackgroundMode.ELSEWHERE))


async def bot() -> None:
    """Store a turn and find it by its words at once, before any worker has run."""
    async with Memory.open(options=bot_options()) as memory:
        text = "My dog is called Potola."
        await memory.remember(Turn("ana", "monday", "user", text, datetime.now(UTC), speaker="Ana"))
        print((await memory.recall("What's my dog called?", user_id="ana")).text)


async def show() -> None:
    """Print the facts that a worker extracted."""
    async with Memory.open(options=bot_options()) as memory:
        for found in await memory.memories("ana"):
            print(found.text)


def main(role: str) -> None:
    """Run one part; without a name all parts one after another, to try it."""
    if role in ("bot", "all"):
        asyncio.run(bot())
    if role == "all":
        worker = [sys.executable, "-m", "hotmem.cli.app", "worker", "--once"]
        subprocess.run(worker, check=True)
    if role in ("show", "all"):
        asyncio.run(show())


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "all")
