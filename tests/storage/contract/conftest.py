"""The engines under test, and databases of each."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from hotmem.storage import Storage
from hotmem.storage.database import Database
from hotmem.storage.sqlite.database import SqliteDatabase
from hotmem.types import UserKey
from tests.storage.contract.story import adopt, user_key

Open = Callable[[], Database]


def sqlite(folder: Path) -> Open:
    """Databases in one SQLite file."""
    return lambda: SqliteDatabase.open(folder / "memory.db")


ENGINES: Final[dict[str, Callable[[Path], Open]]] = {"sqlite": sqlite}
"""For each engine, what opens the same database again at each call, empty at first."""


@pytest.fixture(params=sorted(ENGINES))
def open_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Opens the test's database, as often as it is called."""
    yield ENGINES[request.param](tmp_path)


@pytest.fixture
async def database(open_database: Open) -> AsyncIterator[Database]:
    """An open database with an encoder and no users."""
    opened = open_database()
    await opened.write_all(adopt)
    yield opened
    await opened.close()


@pytest.fixture
async def second(open_database: Open, database: Database) -> AsyncIterator[Database]:
    """The same database, opened once more."""
    opened = open_database()
    yield opened
    await opened.close()


@pytest.fixture
def storage(database: Database) -> Storage:
    """The database with its search engine."""
    return Storage.of(database)


@pytest.fixture
async def ana(database: Database) -> UserKey:
    """A user."""
    return await database.write_all(user_key, "ana")


@pytest.fixture
async def ben(database: Database, ana: UserKey) -> UserKey:
    """Another user."""
    return await database.write_all(user_key, "ben")
