"""A server, and its databases with real roles."""

from collections.abc import Callable
from uuid import uuid4

import pytest

from tests.postgres import VERSIONS, PostgresServer

VERSION = next(iter(VERSIONS))


@pytest.fixture
def server(postgres_servers: Callable[[str], PostgresServer]) -> PostgresServer:
    """A running server."""
    return postgres_servers(VERSION)


@pytest.fixture
def url(postgres_url: Callable[[str], str]) -> str:
    """A database with the schema, as an application role reaches it."""
    return postgres_url(VERSION)


@pytest.fixture
def empty(server: PostgresServer) -> str:
    """The name of a database without a schema, whose owner is the role "keeper"."""
    name = f"test_{uuid4().hex}"
    server.create_database(name)
    return name
