"""One SQL text, written for each engine."""

import pytest

from hotmem.storage.dialect import to_postgres, to_sqlite


@pytest.mark.parametrize(
    ("statement", "sqlite", "postgres"),
    [
        ("SELECT 1", "SELECT 1", "SELECT 1"),
        (
            "SELECT a FROM t WHERE b = ANY(?) AND c = ?",
            "SELECT a FROM t WHERE b IN (SELECT value FROM json_each(?)) AND c = ?",
            "SELECT a FROM t WHERE b = ANY(%s) AND c = %s",
        ),
        (
            "WHERE b <> ALL(:keys) AND c = :user",
            "WHERE b NOT IN (SELECT value FROM json_each(:keys)) AND c = :user",
            "WHERE b <> ALL(%(keys)s) AND c = %(user)s",
        ),
        (
            "FROM unnest(?) AS k (value) JOIN t ON t.id = k.value",
            "FROM json_each(?) AS k JOIN t ON t.id = k.value",
            "FROM unnest(%s) AS k (value) JOIN t ON t.id = k.value",
        ),
        (
            "UPDATE t SET a = greatest(a, least(?, 3))",
            "UPDATE t SET a = max(a, min(?, 3))",
            "UPDATE t SET a = greatest(a, least(%s, 3))",
        ),
        (
            "FROM t INDEXED BY t_by_time WHERE a LIKE 'x%'",
            "FROM t INDEXED BY t_by_time WHERE a LIKE 'x%'",
            "FROM t  WHERE a LIKE 'x%%'",
        ),
        (
            "WHERE +user_key = ? AND (+m.user_key = 1 OR a +user_keys = 2)",
            "WHERE +user_key = ? AND (+m.user_key = 1 OR a +user_keys = 2)",
            "WHERE user_key = %s AND (m.user_key = 1 OR a +user_keys = 2)",
        ),
        (
            "WHERE a > clock()",
            "WHERE a > CAST(unixepoch('subsec') * 1000000 AS INTEGER)",
            "WHERE a > (extract(epoch FROM statement_timestamp()) * 1000000)::BIGINT",
        ),
        ("SELECT a::bigint, :b", "SELECT a::bigint, :b", "SELECT a::bigint, %(b)s"),
    ],
)
def test_a_statement_is_written_for_each_engine(statement: str, sqlite: str, postgres: str) -> None:
    assert to_sqlite(statement) == sqlite
    assert to_postgres(statement) == postgres
