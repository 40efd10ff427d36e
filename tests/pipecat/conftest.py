"""Fixtures: a virtual clock, an open memory and an invalid memory file."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hotmem import Memory
from tests.conversation import OpenMemory
from tests.pipecat.daniel import tell


@pytest.fixture(autouse=True)
def virtual_clock(request: pytest.FixtureRequest) -> None:
    """Waiting takes no time, except in tests of what a busy or late thread does."""
    if "real_clock" not in request.keywords:
        request.getfixturevalue("clock")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
async def memory(database: Path, open_memory: OpenMemory) -> AsyncIterator[Memory]:
    async with open_memory(database) as opened:
        yield opened


@pytest.fixture
async def told(memory: Memory) -> Memory:
    """An open memory with an earlier session of Daniel."""
    await tell(memory)
    return memory


@pytest.fixture
def shopping_list(database: Path) -> Path:
    """A memory file that is not a database."""
    database.write_text("a shopping list\n" * 200)
    return database
