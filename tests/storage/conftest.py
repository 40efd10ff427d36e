"""A store without models: the tests make its vectors and statements themselves."""

import pytest

from hotmem.storage.search import vectors
from hotmem.storage.sqlite.connection import Connection
from tests.letters import DIMENSION


@pytest.fixture
def conn(conn: Connection) -> Connection:
    """A connection to an empty memory file with an encoder, outside any transaction."""
    vectors.adopt(conn, "pairs of letters", DIMENSION)
    return conn
