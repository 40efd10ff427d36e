"""Lists read one screen at a time, by keyset.

A screen costs its own rows, wherever in the list it is.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from hotmem.storage.database import Connection
from hotmem.types.inspection import Count, Cursor, Page

T = TypeVar("T")

MOST_COUNTED: Final = 10_000
"""Rows counted; beyond that a page says "10,000+" and costs no more."""


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
    """The rows at a place in a list.

    Args:
        conn: A connection.
        sql: A SELECT with a WHERE, whose first two columns are those of `by`.
        values: Its values.
        made: Makes a row of what was selected.
        by: The columns that the list is ordered by, the second unique.
        at: The place; None is the beginning.
        rows: Rows at most.
        rising: Whether the smallest come first.
    """
    back = at is not None and at.back
    up = rising != back
    order = ", ".join(f"{column} {'ASC' if up else 'DESC'}" for column in by)
    beyond = "" if at is None else f"AND ({', '.join(by)}) {'>' if up else '<'} (?, ?)"
    edge = () if at is None else (at.value, at.key)
    found = conn.execute(
        f"{sql} {beyond} ORDER BY {order} LIMIT ?", (*values, *edge, rows + 1)
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
    return Page(tuple(made(row) for row in found), before, behind)


def bounded(conn: Connection, sql: str, values: Sequence[object]) -> Count:
    """How many rows a SELECT has, counted up to `MOST_COUNTED`."""
    rows = conn.execute(
        f"SELECT count(*) FROM ({sql} LIMIT ?)", (*values, MOST_COUNTED + 1)
    ).fetchone()[0]
    return Count(min(rows, MOST_COUNTED), rows <= MOST_COUNTED)
