"""Writes of several users at once: which of them wait for each other."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime
from threading import Barrier

import pytest

from hotmem.errors import InvalidInput
from hotmem.storage import queries
from hotmem.storage.database import Connection, Database
from hotmem.storage.postgres.database import PostgresDatabase
from hotmem.storage.queries import imported_records
from hotmem.storage.queries.imports import Import, ImportSession
from hotmem.types import ImportRecord
from tests.storage.contract.story import NOW, adopt, turn, user_key

TIMEOUT_S = 10.0


@pytest.fixture
async def databases(url: str) -> AsyncIterator[tuple[Database, Database]]:
    """Two processes' connections to a database with the users ana and ben."""
    both = PostgresDatabase.open(url), PostgresDatabase.open(url)
    await both[0].write_all(adopt)
    for name in ("ana", "ben"):
        await both[0].write_all(user_key, name)
    yield both
    for database in both:
        await database.close()


@pytest.mark.parametrize("names", [("ana", "ben"), ("carl", "dora")])
async def test_two_imports_do_not_wait_for_each_other_in_a_circle(
    databases: tuple[Database, Database], monkeypatch: pytest.MonkeyPatch, names: tuple[str, str]
) -> None:
    both_began = Barrier(2)

    def insert_after_both_began(
        conn: Connection, one: Import, session: ImportSession, record: ImportRecord, now: datetime
    ) -> str:
        if session.source not in begun:
            begun.add(session.source)
            both_began.wait(TIMEOUT_S)
        return insert(conn, one, session, record, now)

    begun: set[str] = set()
    insert = imported_records.insert_record
    monkeypatch.setattr(imported_records, "insert_record", insert_after_both_began)

    async def take(database: Database, source: str, order: tuple[str, ...]) -> int:
        start, store = queries.imported_records.start, queries.imported_records.import_records
        session = await database.read_all(start, source, "a test")
        records = [turn("Rain.", user=name, name=source) for name in order]
        return await database.write_all(store, session, records, NOW, TIMEOUT_S)

    in_order, reversed_ = await asyncio.gather(
        take(databases[0], "a file", names),
        take(databases[1], "another file", names[::-1]),
        return_exceptions=True,
    )
    assert reversed_ == 1, "it stops before the user who comes first"
    # the other import of the second user goes on, unless it began after this one looked
    assert isinstance(in_order, InvalidInput) or in_order == 1
