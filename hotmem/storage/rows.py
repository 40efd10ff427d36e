"""Reads and writes rows in the forms that many query functions need."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from hotmem.storage.schema import TABLES

if TYPE_CHECKING:
    from hotmem.storage.database import Cursor

Values: TypeAlias = Mapping[str, Any] | Sequence[Any]
"""Values for the placeholders of a statement, by name or by place."""


class Rows(Protocol):
    """What a connection can do with rows, made of the statements that its engine runs."""

    @abstractmethod
    def execute(self, statements: str, bindings: Any = None, /) -> Cursor:  # noqa: ANN401
        """Runs a statement with values for its `?` or `:name` placeholders."""

    def column(self, sql: str, values: Values = ()) -> list[Any]:
        """The first column of a query's rows."""
        return [row[0] for row in self.execute(sql, values).fetchall()]

    def scalar(self, sql: str, values: Values = ()) -> Any:  # noqa: ANN401 - of any type
        """The first column of a query's first row; None without a row."""
        row = self.execute(sql, values).fetchone()
        return None if row is None else row[0]

    def exists(self, sql: str, values: Values = ()) -> bool:
        """Whether a query finds a row."""
        return self.execute(sql, values).fetchone() is not None

    def insert(self, table: str, row: Mapping[str, Any], *, anew: bool = True) -> Any:  # noqa: ANN401 - of any type
        """Inserts a row of values by column; unless `anew`, one that is there already stays.

        Returns:
            The last column of its primary key, such as its row number; None if one was there.
        """
        otherwise = "" if anew else "ON CONFLICT DO NOTHING"
        sql = f"{_insertion(table, row)} {otherwise} RETURNING {TABLES[table].primary[-1]}"
        return self.scalar(sql, tuple(row.values()))

    def upsert(self, table: str, row: Mapping[str, Any]) -> None:
        """Inserts a row of values by column, or sets them where its primary key is there."""
        primary = TABLES[table].primary
        updates = ", ".join(f"{name} = excluded.{name}" for name in row if name not in primary)
        self.execute(
            f"{_insertion(table, row)} ON CONFLICT ({', '.join(primary)}) DO UPDATE SET {updates}",
            tuple(row.values()),
        )


def _insertion(table: str, row: Mapping[str, Any]) -> str:
    marks = ", ".join("?" * len(row))
    return f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})"
