"""A memory with two users, and an HTTP client for the inspector of one of them."""

import asyncio
import re
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from hotmem import Memory
from hotmem.core.local_server import LOOPBACK
from hotmem.inspector.changes import Site
from hotmem.inspector.routes import build
from tests.conversation import OpenMemory, said

ADDRESS = f"http://{LOOPBACK}:8000"

SECRET = "Wilbur"
"""A word that occurs in all data of the other user."""


@dataclass
class Pages:
    """The pages and an HTTP client for them."""

    site: Site
    client: httpx.AsyncClient

    async def get(self, path: str) -> httpx.Response:
        """Request a page by its path below the token."""
        return await self.client.get(f"/{self.site.token}{path}")

    async def fingerprint(self, address: str) -> str:
        """The code of what a page of `/forget` shows."""
        found = re.search(r'name="fingerprint" value="(\w*)"', (await self.get(address)).text)
        return found[1] if found else ""

    async def post(self, path: str, **fields: str) -> httpx.Response:
        """Submit a form with its token."""
        return await self.client.post(
            f"/{self.site.token}{path}", data={"form_token": self.site.form_token} | fields
        )


async def add_two_users(memory: Memory) -> None:
    """Store turns, memories and replies of Ana and Ben."""
    for user, dog, home in (("ana", "Potola", "Porto"), ("ben", SECRET, f"{SECRET} Street")):
        speaker = user.capitalize()
        for minutes, text in enumerate(
            (
                f"My dog is called {dog}.",
                f"I live in {home}.",
                f"Potola and {dog} went to {home} with Marta.",
            )
        ):
            await memory.remember(
                said(
                    text,
                    user=user,
                    session=f"{dog} talk",
                    speaker=speaker,
                    minutes=minutes,
                    name=f"{user}{minutes}",
                )
            )
        await memory.end_session(user_id=user, session_id=f"{dog} talk")
    await memory.settle()
    for user, dog, topic in (("ana", "Potola", "boiler"), ("ben", SECRET, f"{SECRET} boiler")):
        await memory.store_memory(
            f"The {topic}'s serial number is 44 B 19.",
            user_id=user,
            context={"tags": [f"{topic} tag"], "note": topic},
        )
        asked = said(f"What's {dog}'s home called?", user=user, session=f"{dog} talk", minutes=60)
        await memory.remember(asked)
        block = await memory.recall(
            asked.text, user_id=user, session_id=f"{dog} talk", at=asked.spoken_at
        )
        await memory.feedback(block, reply=f"{dog} lives in {block.items[0].text}")
    await memory.settle()


@pytest.fixture(scope="session")
def two_users(tmp_path_factory: pytest.TempPathFactory, open_memory: OpenMemory) -> Path:
    """A file with both users."""
    path = tmp_path_factory.mktemp("inspector") / "memory.db"

    async def store() -> None:
        async with open_memory(path) as memory:
            await add_two_users(memory)

    asyncio.run(store())
    return path


@pytest.fixture
async def memory(two_users: Path, database: Path, open_memory: OpenMemory) -> AsyncIterator[Memory]:
    """The open memory of both users."""
    shutil.copy(two_users, database)
    async with open_memory(database) as opened:
        yield opened


@pytest.fixture
async def pages(memory: Memory) -> AsyncIterator[Pages]:
    """The pages of Ana."""
    site = Site(memory, "ana")
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(build(site)), base_url=ADDRESS
    ) as client:
        yield Pages(site, client)
    await site.worker.close()
