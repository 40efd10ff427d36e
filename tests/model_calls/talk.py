"""What is said to a memory that calls a language model, and what its record of calls shows."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from hotmem import Memory
from hotmem.core.location import Location, ServerUrl
from hotmem.options import BackgroundOptions
from hotmem.storage import queries
from hotmem.types import ExtractionCosts, Turn
from tests.conversation import said

Open = Callable[..., AbstractAsyncContextManager[Memory]]

HERE = BackgroundOptions(poll_s=0.1)


async def talk(memory: Memory, *texts: str | Turn, session: str = "s") -> None:
    """Say some things, end the session and wait for all jobs."""
    for number, text in enumerate(texts):
        turn = said(text, session=session, minutes=number) if isinstance(text, str) else text
        await memory.remember(turn)
    await memory.end_session(user_id="ana", session_id=session)
    async with asyncio.timeout(60):
        await memory.settle()


async def costs(memory: Memory) -> ExtractionCosts:
    database = memory.runtime.database
    user = await database.read_all(queries.users.find, "ana")
    assert user is not None
    return await database.read(queries.model_calls.costs, user)


async def outcomes(memory: Memory) -> list[str]:
    rows = await memory.runtime.database.read_all(
        lambda conn: conn.execute(
            "SELECT outcome FROM extraction_calls WHERE user_key IS NOT NULL ORDER BY id"
        ).fetchall()
    )
    return [row[0] for row in rows]


def address(location: Location) -> str:
    """The location as a user names it."""
    return location.url if isinstance(location, ServerUrl) else str(location)
