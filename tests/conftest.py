"""Shared fixtures. The real models are loaded once; their prepared files stay in pytest's cache."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, closing
from functools import cache, partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import hypothesis
import pytest
import typer.main
from loguru import logger
from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from hotmem import Memory
from hotmem.cli import console
from hotmem.models import (
    CachedEncoder,
    Language,
    TokenCounter,
    load_encoder,
    load_language,
)
from hotmem.options import ModelOptions
from hotmem.storage.postgres.connection import Client
from hotmem.storage.postgres.migrations import migrate
from hotmem.storage.sqlite import connection
from hotmem.storage.sqlite.connection import Connection
from hotmem.storage.sqlite.migrations import migrate as migrate_file
from tests import thoroughness
from tests.clock import VirtualClock
from tests.conversation import OpenMemory
from tests.letters import LetterEncoder
from tests.parts import PARTS, ROOT, part_of
from tests.postgres import PostgresServer, server
from tests.reporting import pytest_terminal_summary as pytest_terminal_summary
from tests.slow import slow_tests

hypothesis.settings.register_profile(
    "tests",
    deadline=None,  # other tests run beside them
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture],
)
hypothesis.settings.load_profile("tests")

TEMPLATE = "migrated"
"""The database on a PostgreSQL server that tests get copies of."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--full`, which runs the attacks as often as `make attack` does, and parts."""
    parser.addoption("--full", action="store_true", help="run the attacks in full")
    parser.addoption("--all", action="store_true", help="run the tests of all parts as well")
    parser.addoption("--parts", default="", help=f"run only these parts: {', '.join(PARTS)}")


def pytest_configure(config: pytest.Config) -> None:
    """Say how thorough to be, and refuse parts that there are not."""
    thoroughness.whole = config.getoption("full") or config.getoption("all")
    if unknown := chosen(config) - set(PARTS):
        raise pytest.UsageError(f"No part {sorted(unknown)}. Parts: {', '.join(PARTS)}")


def chosen(config: pytest.Config) -> set[str]:
    """The parts to run; without any, the tests of none."""
    names = set(config.getoption("parts").split(",")) - {""}
    return set(PARTS) if config.getoption("all") else names


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the files of parts that do not run, unless they are named."""
    part = part_of(collection_path) if collection_path.suffix == ".py" else None
    given = (Path(name.partition("::")[0]).resolve() for name in config.args)
    inside = (path for path in given if path not in (ROOT, ROOT / "tests"))
    named = any(collection_path.is_relative_to(path) for path in inside)
    return True if part and part not in chosen(config) and not named else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark slow tests; leave out those of parts that do not run, and with `--parts` of no part."""
    slow = slow_tests()
    for item in items:
        if item.nodeid.partition("[")[0] in slow:
            item.add_marker(pytest.mark.slow)
    parts, alone = chosen(config), bool(config.getoption("parts"))
    named = tuple(name for name in config.args if "::" in name)
    kept, left_out = list[pytest.Item](), list[pytest.Item]()
    for item in items:
        marked = item.get_closest_marker("part")
        part = part_of(item.path) or (marked.args[0] if marked else None)
        runs = not alone if part is None else part in parts
        asked = item.nodeid.startswith(named) if named else not parts and part_of(item.path)
        (kept if runs or asked else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


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


@pytest.fixture
def command_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A wide screen for commands, and a folder without settings."""
    monkeypatch.setattr(console, "screen", console.make_console(width=200))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def encoder() -> CachedEncoder:
    """The default encoder."""
    return load_encoder(ModelOptions())


@pytest.fixture(scope="session")
def language() -> Language:
    """spaCy's English model."""
    return load_language()


@pytest.fixture(scope="session")
def tokens() -> TokenCounter:
    """The token counter of the default encoding."""
    return TokenCounter.load(ModelOptions().encoding)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """The path of a test's memory file."""
    return tmp_path / "memory.db"


@pytest.fixture
def conn(database: Path) -> Iterator[Connection]:
    """A connection to the test's memory file, which has no rows."""
    with closing(connection.connect(database)) as opened:
        migrate_file(opened, database)
        yield opened


@pytest.fixture
async def clock() -> AsyncIterator[VirtualClock]:
    """A virtual clock for the test's event loop, in which waiting takes no time."""
    clock = VirtualClock()
    with pytest.MonkeyPatch.context() as patch:
        clock.install(patch)
        yield clock
    clock.leave()


@pytest.fixture(scope="session")
def open_memory(encoder: CachedEncoder, language: Language) -> OpenMemory:
    """Opens memories with the default encoder and parser."""
    return partial(Memory.open, encoder=encoder, language=language)


@pytest.fixture
async def memory(database: Path, open_memory: OpenMemory) -> AsyncIterator[Memory]:
    """An open, empty memory."""
    async with open_memory(database) as opened:
        yield opened


@pytest.fixture
async def lettered(database: Path, language: Language) -> AsyncIterator[Memory]:
    """An open, empty memory with the encoder of letter pairs, which takes no time."""
    async with Memory.open(database, encoder=LetterEncoder(), language=language) as opened:
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
