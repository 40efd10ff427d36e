"""Reads and writes rows in the forms that many query functions need, and how values are stored."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Protocol,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import AwareDatetime

from hotmem.storage.schema import TABLES

if TYPE_CHECKING:
    from hotmem.storage.database import Cursor

R = TypeVar("R")

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)

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

    def records(self, kind: type[R], sql: str, values: Values = ()) -> list[R]:
        """A query's rows as records (`record_of`)."""
        return [record_of(kind, row) for row in self.execute(sql, values).fetchall()]

    def record(self, kind: type[R], sql: str, values: Values = ()) -> R | None:
        """A query's first row as a record (`record_of`); None without a row."""
        row = self.execute(sql, values).fetchone()
        return None if row is None else record_of(kind, row)

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


def to_stored(moment: datetime) -> int:
    """Microseconds since 1970 of an aware datetime."""
    return (moment - EPOCH) // MICROSECOND


def from_stored(microseconds: int) -> datetime:
    """The UTC datetime of stored microseconds."""
    return EPOCH + microseconds * MICROSECOND


def record_of(kind: type[R], row: Sequence[Any], **others: Any) -> R:  # noqa: ANN401 - of fields
    """The record of a row, whose columns are in the order of the record's fields.

    Stored times become datetimes, numbers flags, names members of their enumeration, and JSON lists
    tuples; NULL stays None.

    Args:
        kind: The type of the record.
        row: The row.
        others: The last fields, by name, that have no column and no default.
    """
    readers = zip(row, _readers(kind), strict=False)  # type: ignore[arg-type]  # it is hashable
    values = (value if value is None or not read else read(value) for value, read in readers)
    return kind(*values, **others)


@cache
def _readers(kind: type) -> tuple[Callable[[Any], Any] | None, ...]:
    """What reads the stored value of each field of a record; None where it is the value."""
    return tuple(map(_reader, get_type_hints(kind).values()))


def _reader(hint: Any) -> Callable[[Any], Any] | None:  # noqa: ANN401 - a type or a union of types
    if isinstance(hint, UnionType):
        (hint,) = set(get_args(hint)) - {NoneType}
    if hint in (datetime, AwareDatetime):
        return from_stored
    if get_origin(hint) is tuple:
        return lambda text: tuple(json.loads(text))
    return hint if isinstance(hint, type) and issubclass(hint, bool | Enum) else None


def _insertion(table: str, row: Mapping[str, Any]) -> str:
    marks = ", ".join("?" * len(row))
    return f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})"
