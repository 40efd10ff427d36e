"""OpenTelemetry metrics of a database, read by a provider of the test."""

from datetime import UTC, datetime, timedelta
from typing import Any

from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from hotmem.storage.postgres.database import PostgresDatabase
from hotmem.storage.queries import turns
from tests.storage.contract.story import turn


async def test_pool_transactions_and_the_oldest_job(url: str) -> None:
    reader = InMemoryMetricReader()
    metrics.set_meter_provider(MeterProvider(metric_readers=[reader]))
    database = PostgresDatabase.open(url)
    hour_ago = datetime.now(UTC) - timedelta(hours=1)
    await database.write_all(turns.add, turn("A secret", at=hour_ago), hour_ago)
    data = reader.get_metrics_data()
    await database.close()
    assert data is not None
    found: dict[str, list[Any]] = {
        metric.name: list(metric.data.data_points)
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }
    assert "secret" not in str(found)
    kinds = {point.attributes["kind"] for point in found["hotmem.transaction"]}
    assert "write" in kinds
    states = {point.attributes["state"] for point in found["hotmem.connections"]}
    assert states == {"open", "available", "waiting"}
    (age,) = (point.value for point in found["hotmem.oldest_job"])
    assert 3600 <= age < 3700
