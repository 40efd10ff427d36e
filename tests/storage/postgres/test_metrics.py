"""OpenTelemetry metrics of a database."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from hotmem.storage.postgres.database import PostgresDatabase
from hotmem.storage.queries import turns
from tests.storage.contract.story import turn


async def test_pool_transactions_and_the_oldest_job(
    url: str, measured: Callable[[], dict[str, list[Any]]]
) -> None:
    database = PostgresDatabase.open(url)
    hour_ago = datetime.now(UTC) - timedelta(hours=1)
    await database.write_all(turns.add, turn("A secret", at=hour_ago), hour_ago)
    found = measured()
    await database.close()
    assert "secret" not in str(found)
    kinds = {point.attributes["kind"] for point in found["hotmem.transaction"]}
    assert "write" in kinds
    states = {point.attributes["state"] for point in found["hotmem.connections"]}
    assert states == {"open", "available", "waiting"}
    (age,) = (point.value for point in found["hotmem.oldest_job"])
    assert 3600 <= age < 3700
