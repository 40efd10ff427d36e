"""What is said to a memory that calls a language model, and what its record of calls shows."""

import asyncio
import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from threading import Event

from hotmem import Memory
from hotmem.core.location import Location, ServerUrl
from hotmem.options import BackgroundOptions
from hotmem.storage import queries
from hotmem.types import ExtractionCosts, Turn
from tests import warm
from tests.chat_server import ChatServer
from tests.conversation import said, user_of

Open = Callable[..., AbstractAsyncContextManager[Memory]]

HERE = BackgroundOptions(poll_s=0.1)

WORKING = """
import asyncio, sys
from hotmem import Memory, Options
from hotmem.core.location import locate
from hotmem.models import load_language
from hotmem.options import ExtractionOptions
from tests.letters import LetterEncoder

async def main():
    url, summaries = sys.argv[2], "summaries" in sys.argv
    options = Options(extraction=ExtractionOptions(model="bot", base_url=url, summaries=summaries))
    location, language = locate(sys.argv[1]), load_language()
    async with Memory.open(location, options, encoder=LetterEncoder(), language=language) as memory:
        await memory.settle()

asyncio.run(main())
"""
"""Does the jobs of a database with an endpoint; with the argument "summaries", those too."""


async def tell(memory: Memory, *texts: str | Turn, session: str = "s") -> None:
    """Say some things and end the session."""
    for number, text in enumerate(texts):
        turn = said(text, session=session, minutes=number) if isinstance(text, str) else text
        await memory.remember(turn)
    await memory.end_session(user_id="ana", session_id=session)


async def talk(memory: Memory, *texts: str | Turn, session: str = "s") -> None:
    """Say some things, end the session and wait for all jobs."""
    await tell(memory, *texts, session=session)
    async with asyncio.timeout(60):
        await memory.settle()


async def costs(memory: Memory) -> ExtractionCosts:
    database = memory.runtime.database
    user = await user_of(database)
    return await database.read(queries.model_calls.costs, user)


async def outcomes(memory: Memory) -> list[str]:
    rows = await memory.runtime.database.read_all(
        lambda conn: conn.execute(
            "SELECT outcome FROM extraction_calls WHERE user_key IS NOT NULL ORDER BY id"
        ).fetchall()
    )
    return [row[0] for row in rows]


async def exported(memory: Memory, folder: Path) -> Path:
    """The file of an export of Ana's memory."""
    file = folder / "ana.jsonl"
    lines = [f"{line}\n" async for line in memory.export("ana")]
    await asyncio.to_thread(file.write_text, "".join(lines), "utf-8")
    return file


def address(location: Location) -> str:
    """The location as a user names it."""
    return location.url if isinstance(location, ServerUrl) else str(location)


async def kill_while_calling(
    location: Location, chat: ChatServer, arrived: Event, *more: str
) -> None:
    """Do the jobs in a process that is killed when its call has arrived at the endpoint."""
    program = ["-c", WORKING, address(location), chat.url, *more]
    killed = warm.start(program, None, out=os.devnull, err=os.devnull)
    assert await asyncio.to_thread(arrived.wait, 60)
    killed.kill()
    await asyncio.to_thread(killed.join)
