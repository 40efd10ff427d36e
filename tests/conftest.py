"""Shared fixtures. The real models are loaded once; their prepared files stay in pytest's cache."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import typer.main
from loguru import logger
from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from hotmem import Memory
from hotmem.models import (
    CachedEncoder,
    Language,
    TokenCounter,
    load_encoder,
    load_language,
    load_reader,
)
from hotmem.options import ModelOptions
from hotmem.storage.postgres.client import Client
from hotmem.storage.postgres.migrations import migrate
from hotmem.storage.sqlite import connection
from tests.clock import VirtualClock
from tests.postgres import PostgresServer, server

TEMPLATE = "migrated"
"""The database on a PostgreSQL server that tests get copies of."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--full`, which runs the tests of tests/attacks as often as `make attack` does."""
    parser.addoption("--full", action="store_true", help="run the attacks in full")


@pytest.fixture(scope="session")
def full(pytestconfig: pytest.Config) -> bool:
    """Whether the attacks run in full."""
    return bool(pytestconfig.getoption("--full"))


@pytest.fixture(scope="session", autouse=True)
def no_settings() -> None:
    """Remove HOTMEM_ variables, which a memory that is opened without options reads."""
    for name in [name for name in os.environ if name.upper().startswith("HOTMEM_")]:
        del os.environ[name]


@pytest.fixture(scope="session", autouse=True)
def durable() -> Iterator[str]:
    """Do not wait for the disk on commit in this process; child processes do.

    Returns:
        The `SYNCHRONOUS` that applies outside of tests.
    """
    outside = connection.SYNCHRONOUS
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "SYNCHRONOUS", "OFF")
        yield outside


@pytest.fixture(scope="session", autouse=True)
def commands_built_once() -> Iterator[None]:
    """Build the commands of an app once; typer's runner builds all for each that it runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", cache(typer.main.get_command))
        yield


def _to_stderr(message: str) -> None:
    """Write to the current standard error, which pytest replaces for each test."""
    sys.stderr.write(message)


@pytest.fixture(autouse=True)
def default_logging() -> Iterator[None]:
    """Restore logging after a test: commands configure it for their whole process."""
    yield
    logger.remove()
    logger.add(_to_stderr)


@pytest.fixture(scope="session")
def model_options(pytestconfig: pytest.Config) -> ModelOptions:
    """Options with the folder of prepared models that tests share."""
    cache = pytestconfig.cache
    assert cache is not None
    options = ModelOptions(cache_dir=cache.mkdir("hotmem"))
    assert load_reader(options.cache_dir), "processes without write access need it prepared"
    return options


@pytest.fixture(scope="session")
def encoder(model_options: ModelOptions) -> CachedEncoder:
    """The default encoder."""
    return load_encoder(model_options)


@pytest.fixture(scope="session")
def language() -> Language:
    """spaCy's English model."""
    return load_language()


@pytest.fixture(scope="session")
def tokens(model_options: ModelOptions) -> TokenCounter:
    """The token counter of the default encoding."""
    return TokenCounter.load(model_options.encoding, model_options.cache_dir)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """The path of a test's memory file."""
    return tmp_path / "memory.db"


@pytest.fixture
async def clock(monkeypatch: pytest.MonkeyPatch) -> VirtualClock:
    """A virtual clock for the test's event loop, in which waiting takes no time."""
    clock = VirtualClock()
    clock.install(monkeypatch)
    return clock


@pytest.fixture
async def memory(
    database: Path, encoder: CachedEncoder, language: Language
) -> AsyncIterator[Memory]:
    """An open, empty memory."""
    async with Memory.open(database, encoder=encoder, language=language) as opened:
        yield opened


@pytest.fixture(scope="session")
def measured() -> Callable[[], dict[str, list[Any]]]:
    """The OpenTelemetry data points of this process by metric; a process has one provider."""
    reader = InMemoryMetricReader()
    metrics.set_meter_provider(MeterProvider(metric_readers=[reader]))

    def points() -> dict[str, list[Any]]:
        data = reader.get_metrics_data()
        assert data is not None
        return {
            metric.name: list(metric.data.data_points)
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }

    return points


@pytest.fixture(scope="session")
def postgres_servers() -> Iterator[Callable[[str], PostgresServer]]:
    """Running PostgreSQL servers by version, started when they are first asked for."""
    with ExitStack() as stack:
        yield cache(lambda version: stack.enter_context(server(version)))


@pytest.fixture(scope="session")
def postgres_templates(
    postgres_servers: Callable[[str], PostgresServer],
) -> Callable[[str], str]:
    """Names of databases with today's schema and no rows, by version."""

    @cache
    def create(version: str) -> str:
        url = postgres_servers(version).create_database(TEMPLATE)
        with Client.connect(url, autocommit=True) as conn:
            migrate(conn, url)
        return TEMPLATE

    return create


@pytest.fixture
def postgres_url(
    postgres_servers: Callable[[str], PostgresServer],
    postgres_templates: Callable[[str], str],
) -> Iterator[Callable[[str], str]]:
    """URLs of new databases on the server of a version; they are dropped some tests later.

    They have the schema and no rows, and are those of an application role.
    """
    made: list[tuple[PostgresServer, str]] = []

    def create(version: str) -> str:
        running, name = postgres_servers(version), f"test_{uuid4().hex}"
        made.append((running, name))
        running.create_database(name, postgres_templates(version))
        return running.url(name, "bot")

    yield create
    for running, name in made:
        running.drop_database(name)
