"""Differences between the engines' SQL, and the translation of statements for each.

Query functions share one SQL text: the common part of both dialects, and the forms below.
Each engine translates a statement once and caches the result.

| in a query function               | SQLite                                  | PostgreSQL         |
|-----------------------------------|-----------------------------------------|--------------------|
| `x = ANY(?)`, a list bound        | `x IN (SELECT value FROM json_each(?))` | the same           |
| `x <> ALL(?)`, a list bound       | `x NOT IN (SELECT …)`                   | the same           |
| `unnest(?) AS k (value)`          | `json_each(?) AS k`                     | the same           |
| `greatest(a, b)`, `least(a, b)`   | `max(a, b)`, `min(a, b)`                | the same           |
| `clock()`, µs since 1970          | of this machine                         | of the server      |
| `?`, `:name`                      | the same                                | `%s`, `%(name)s`   |
| `INDEXED BY index`                | the same                                | nothing            |
| `+user_key = ?`, another index    | the same                                | `user_key = %s`    |

`json_each(text)`, for a stored JSON array, `json_group_array(x)` and `substr(text, start, length)`
of columns are functions of both: the PostgreSQL schema defines them. Flags are integers
(`archived = 0`, not `NOT archived`), text is compared by code point, `lower` folds ASCII letters,
and NULL is compared with `IS [NOT] DISTINCT FROM`.
"""

import re
from functools import lru_cache
from typing import Final

CACHED: Final = 2048
"""Translated statements kept. There are some 600."""

_PLACEHOLDER: Final = r"(\?|:[a-z_]+)"
_ANY: Final = re.compile(rf"= ANY\({_PLACEHOLDER}\)")
_ALL: Final = re.compile(rf"<> ALL\({_PLACEHOLDER}\)")
_UNNEST: Final = re.compile(rf"\bunnest\({_PLACEHOLDER}\) AS (\w+) \(value\)")
_GREATEST: Final = re.compile(r"\bgreatest\(")
_LEAST: Final = re.compile(r"\bleast\(")
_CLOCK: Final = re.compile(r"\bclock\(\)")
_NAMED: Final = re.compile(r"(?<!:):([a-z_]+)")
_INDEXED: Final = re.compile(r"\bINDEXED BY \w+")
_HINT: Final = re.compile(r"(?<=[\s(])\+((?:\w+\.)?user_key)\b")

_SETTING: Final = re.compile(r"set_config|hotmem\.(?:user|scope)|^\s*(?:re)?set\b", re.I)


@lru_cache(CACHED)
def to_sqlite(statement: str) -> str:
    """The statement for SQLite; a bound list is JSON text there."""
    statement = _ANY.sub(r"IN (SELECT value FROM json_each(\1))", statement)
    statement = _ALL.sub(r"NOT IN (SELECT value FROM json_each(\1))", statement)
    statement = _UNNEST.sub(r"json_each(\1) AS \2", statement)
    statement = _CLOCK.sub("CAST(unixepoch('subsec') * 1000000 AS INTEGER)", statement)
    return _LEAST.sub("min(", _GREATEST.sub("max(", statement))


@lru_cache(CACHED)
def to_postgres(statement: str) -> str:
    """The statement for psycopg; a bound list is an array there.

    Raises:
        ValueError: If it names settings: what a transaction sees is the engine's to say.
    """
    if _SETTING.search(statement):
        raise ValueError("A query function cannot change settings of its transaction.")
    statement = _HINT.sub(r"\1", _INDEXED.sub("", statement.replace("%", "%%")))
    statement = _CLOCK.sub(
        "(extract(epoch FROM statement_timestamp()) * 1000000)::BIGINT", statement
    )
    return _NAMED.sub(r"%(\1)s", statement).replace("?", "%s")
