"""An endpoint, and memories that call it, on both engines."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hotmem import Memory, Options
from hotmem.core.location import Location, locate
from hotmem.options import BackgroundOptions, ExtractionOptions
from tests.chat_server import ChatServer, chat_server
from tests.conversation import OpenMemory
from tests.model_calls.talk import HERE, Open
from tests.postgres import VERSIONS

FIRST, *_ = VERSIONS


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with chat_server() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgres"])
def location(
    request: pytest.FixtureRequest, tmp_path: Path, postgres_url: Callable[[str], str]
) -> Location:
    """A new database of each engine."""
    return locate(postgres_url(FIRST)) if request.param == "postgres" else tmp_path / "memory.db"


@pytest.fixture
def open_at(open_memory: OpenMemory) -> Open:
    """Opens a memory with options of extraction."""

    @asynccontextmanager
    async def opened(
        location: Location, extraction: ExtractionOptions, background: BackgroundOptions = HERE
    ) -> AsyncIterator[Memory]:
        options = Options(extraction=extraction, background=background)
        async with open_memory(location, options) as memory:
            yield memory

    return opened
