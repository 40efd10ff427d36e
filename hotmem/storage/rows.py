"""Statements that many query functions need, made from the names of a table and its columns."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from hotmem.storage.database import Connection
from hotmem.storage.schema import TABLES

Values: TypeAlias = Mapping[str, Any] | Sequence[Any]
"""Values for the placeholders of a statement, by name or by place."""


def column(conn: Connection, sql: str, values: Values = ()) -> list[Any]:
    """The first column of a query's rows."""
    return [row[0] for row in conn.execute(sql, values).fetchall()]


def exists(conn: Connection, sql: str, values: Values = ()) -> bool:
    """Whether a query finds a row."""
    return conn.execute(sql, values).fetchone() is not None


def insert_row(conn: Connection, table: str, row: Mapping[str, Any], *, anew: bool = True) -> Any:  # noqa: ANN401 - of any type
    """Inserts a row of values by column; unless `anew`, one that is there already stays.

    Returns:
        The last column of its primary key, such as its row number; None if one was there.
    """
    otherwise = "" if anew else "ON CONFLICT DO NOTHING"
    sql = f"{_insertion(table, row)} {otherwise} RETURNING {TABLES[table].primary[-1]}"
    found = conn.execute(sql, tuple(row.values())).fetchone()
    return None if found is None else found[0]


def upsert_row(conn: Connection, table: str, row: Mapping[str, Any]) -> None:
    """Inserts a row of values by column, or sets them where its primary key is there already."""
    primary = TABLES[table].primary
    updates = ", ".join(f"{name} = excluded.{name}" for name in row if name not in primary)
    conn.execute(
        f"{_insertion(table, row)} ON CONFLICT ({', '.join(primary)}) DO UPDATE SET {updates}",
        tuple(row.values()),
    )


def _insertion(table: str, row: Mapping[str, Any]) -> str:
    marks = ", ".join("?" * len(row))
    return f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})"
