"""A store without models: the tests make its vectors and statements themselves."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hotmem.storage.search import vectors
from hotmem.storage.sqlite.connection import Connection, connect
from hotmem.storage.sqlite.migrations import migrate
from tests.letters import DIMENSION


@pytest.fixture
def conn(database: Path) -> Iterator[Connection]:
    """A writable connection to an empty file of the newest schema, outside any transaction.

    It does not wait for the disk.
    """
    with closing(connect(database)) as opened:
        opened.execute("PRAGMA synchronous = OFF")
        migrate(opened, database)
        vectors.adopt(opened, "pairs of letters", DIMENSION)
        yield opened
