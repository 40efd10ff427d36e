"""Reads one user's memory for the inspector, a page at a time; writes nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, ParamSpec, TypeVar

from hotmem.storage.database import Connection, Database, OfUser
from hotmem.types import UserKey
from hotmem.types.inspection import Count, Cursor, Page

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Inspection:
    """One user's part of a database.

    Attributes:
        database: The database.
        user: The only user whose rows are read.
    """

    database: Database
    user: UserKey

    async def read(self, operation: OfUser[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a query function about the user, such as those of `conversations`.

        Args:
            operation: Takes the connection and the user, then its other arguments.
            args: Its other arguments.
            kwargs: The same, by name.

        Raises:
            StoreError: If the database cannot be read.
        """
        return await self.database.read(operation, self.user, *args, **kwargs)


MOST_COUNTED: Final = 10_000
"""Rows counted at most; beyond that a page shows "10,000+"."""


def screen(
    conn: Connection,
    sql: str,
    values: Sequence[object],
    made: Callable[[Sequence[Any]], T],
    *,
    by: tuple[str, str],
    at: Cursor | None,
    rows: int,
    rising: bool = False,
) -> Page[T]:
    """The rows of a page, at a cost that does not depend on its position.

    Args:
        conn: A connection.
        sql: A SELECT with a WHERE.
        values: Its values.
        made: Makes an item from the columns of a row.
        by: The columns of the order, the second unique.
        at: The cursor; None is the beginning.
        rows: Rows at most.
        rising: Whether the order is ascending.
    """
    back = at is not None and at.back
    up = rising != back
    order = ", ".join(f"{column} {'ASC' if up else 'DESC'}" for column in by)
    beyond = "" if at is None else f"AND ({', '.join(by)}) {'>' if up else '<'} (?, ?)"
    edge = () if at is None else (at.value, at.key)
    placed = sql.replace("SELECT", f"SELECT {', '.join(by)},", 1)
    found = conn.execute(
        f"{placed} {beyond} ORDER BY {order} LIMIT ?", (*values, *edge, rows + 1)
    ).fetchall()
    more, found = len(found) > rows, found[:rows]
    if back:
        found.reverse()
    if not found:
        return Page(())
    before = (
        Cursor(found[0][0], found[0][1], back=True) if (more if back else at is not None) else None
    )
    behind = Cursor(found[-1][0], found[-1][1]) if back or more else None
    return Page(tuple(made(row[2:]) for row in found), before, behind)


def bounded(conn: Connection, sql: str, values: Sequence[object]) -> Count:
    """Number of rows of a SELECT, counted up to `MOST_COUNTED`."""
    limited = f"SELECT count(*) FROM ({sql} LIMIT ?) counted"
    rows = conn.scalar(limited, (*values, MOST_COUNTED + 1))
    return Count(min(rows, MOST_COUNTED), rows <= MOST_COUNTED)
