"""The engines under test, and databases of each."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from hotmem.storage import Storage
from hotmem.storage.database import Database
from hotmem.storage.postgres.database import PostgresDatabase
from hotmem.storage.sqlite.database import SqliteDatabase
from hotmem.types import UserKey
from tests.postgres import VERSIONS
from tests.storage.contract.story import adopt, user_key

Open = Callable[[], Database]
OpenIn = Callable[[str | None], Database]
"""Opens a database whose words have a language; None for the one that it has."""


FIRST, *OTHERS = VERSIONS
ENGINES = (
    "sqlite",
    f"postgres-{FIRST}",
    *(pytest.param(f"postgres-{version}", marks=pytest.mark.part("engines")) for version in OTHERS),
)
"""The engines; one version of PostgreSQL is enough for the fast tests."""


@pytest.fixture(params=ENGINES)
def open_in(
    request: pytest.FixtureRequest, tmp_path: Path, postgres_url: Callable[[str], str]
) -> OpenIn:
    """Opens the test's database, empty at first, in a language, as often as it is called."""
    engine, _, version = request.param.partition("-")
    if engine == "sqlite":
        return lambda language: SqliteDatabase.open(tmp_path / "memory.db", None, language)
    url = postgres_url(version)
    return lambda language: PostgresDatabase.open(url, language)


@pytest.fixture
def open_database(open_in: OpenIn) -> Open:
    """Opens the test's database, empty at first, as often as it is called."""
    return lambda: open_in(None)


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
