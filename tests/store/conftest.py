"""A store without models: the tests make its vectors and statements themselves."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hotmem.store import vectors
from hotmem.store.driver import Connection, connect
from hotmem.store.migrations import migrate
from tests.letters import DIMENSION


@pytest.fixture
def conn(database: Path) -> Iterator[Connection]:
    """A writable connection to an empty file of the newest schema, outside any transaction; it does not wait for the disk."""
    with closing(connect(database)) as opened:
        opened.execute("PRAGMA synchronous = OFF")
        migrate(opened, database)
        vectors.adopt(opened, "pairs of letters", DIMENSION)
        yield opened
