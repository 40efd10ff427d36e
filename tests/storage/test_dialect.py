"""One SQL text, written for each engine."""

import pytest

from hotmem.storage.dialect import to_postgres, to_sqlite
from tests.tables import tables

CASES = tables(__file__)


@pytest.mark.parametrize(("statement", "sqlite", "postgres"), CASES["a_statement_is_written"])
def test_a_statement_is_written_for_each_engine(statement: str, sqlite: str, postgres: str) -> None:
    assert to_sqlite(statement) == sqlite
    assert to_postgres(statement) == postgres
