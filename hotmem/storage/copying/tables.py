"""Tables that are copied, and how a block of their rows is read, written and compared."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, TypeAlias

from hotmem.storage.database import Connection, Database
from hotmem.storage.queries.deletions import FOREIGN_KEYS, NULLABLE_KEYS
from hotmem.storage.queries.index_entries import WORDED
from hotmem.storage.queries.maintenance import TEXTS
from hotmem.storage.schema import TABLES as SCHEMA
from hotmem.text.stemming import terms
from hotmem.types import EvidenceKind, UserKey

Row: TypeAlias = tuple[Any, ...]

TABLES: Final = (
    "users",
    *FOREIGN_KEYS,
    "deletions",
    "deleted_rows",
    "failures",
    "audit",
    "former_vectors",
    "meta",
    "index_revisions",
)
"""Parents before children; triggers on other tables change the last."""

UNFINISHED: Final = "unfinished copy"
"""The entry of `meta` in a database that a copy was begun to and not finished."""

OWN_ENTRIES: Final = f"key NOT IN ('version', '{UNFINISHED}')"
"""The entries of `meta` that are copied."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the source and the target.

    Attributes:
        name: Its name.
        columns: Columns that both have; those of `links` are last.
        keys: The columns of `columns` that identify a row and order the rows.
        links: Columns that refer to rows of the table itself, which may come later.
        conflict: The target's primary key.
        owner: SQL for the row's user, if the target has a column for it and the source does not.
    """

    name: str
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    links: tuple[str, ...]
    conflict: tuple[str, ...]
    owner: str | None

    @property
    def where(self) -> str:
        """A condition on the rows that are copied."""
        return OWN_ENTRIES if self.name == "meta" else "1 = 1"

    def key_of(self, row: Row) -> Row:
        """The values of `keys` in a row."""
        return tuple(row[self.columns.index(name)] for name in self.keys)


@dataclass(slots=True)
class Digest:
    """The number of rows, and a checksum of their values in the order of their keys."""

    rows: int = 0
    checksum: Any = field(default_factory=sha256)

    def add(self, table: Table, rows: Sequence[Row]) -> None:
        """Adds the next rows."""
        self.rows += len(rows)
        columns = len(table.columns)
        for row in rows:
            self.checksum.update(repr(row[:columns]).encode())

    @property
    def value(self) -> tuple[int, str]:
        """The number of rows and the checksum."""
        return self.rows, self.checksum.hexdigest()


Columns: TypeAlias = dict[str, list[tuple[str, int]]]
"""Columns of each table, each with its place in the primary key, or 0."""


def columns(conn: Connection) -> Columns:
    """The columns of all tables."""
    return {name: conn.table_columns(name) for name in TABLES}


def matched(source: Columns, target: Columns) -> list[Table]:
    """The tables of a source and a target, in the order in which they are copied."""
    return [_matched(name, source, target) for name in TABLES]


def _matched(name: str, source: Columns, target: Columns) -> Table:
    theirs, parents = dict(target[name]), SCHEMA[name].parents
    links = [
        column
        for column, parent in parents.items()
        if parent == name and (name, column) in NULLABLE_KEYS
    ]
    shared = [column for column, _ in source[name] if column in theirs and column not in links]
    keys = sorted((place, column) for column, place in source[name] if place and theirs.get(column))
    owner = None
    if "user_key" in theirs and "user_key" not in shared:
        column, parent = next(
            (column, parent)
            for column, parent in parents.items()
            if "user_key" in dict(source[parent])
        )
        owner = f"(SELECT p.user_key FROM {parent} p WHERE p.id = r.{column})"
    return Table(
        name,
        (*shared, *links),
        tuple(column for _, column in keys),
        tuple(links),
        tuple(column for column, place in target[name] if place),
        owner,
    )


def count(conn: Connection, tables: Sequence[Table]) -> int:
    """Number of rows of all tables."""
    return sum(
        conn.scalar(f"SELECT count(*) FROM {table.name} WHERE {table.where}") for table in tables
    )


def pages(
    conn: Connection, table: Table, limit: int, *, owned: bool = True
) -> Iterator[tuple[Row | None, Row | None, list[Row]]]:
    """All rows by their keys, so many at once.

    Each page has the key before its first row, None at the beginning, and that of its last row,
    None at the end. With `owned`, each row ends with its user if the target needs it.
    """
    values = [*table.columns, *([table.owner] if table.owner and owned else [])]
    after: Row | None = None
    upto: Row | None = ()
    while upto is not None:
        beyond = "" if after is None else f"AND {_compared(table, '>')}"
        rows = conn.execute(
            f"""SELECT {", ".join(values)} FROM {table.name} r WHERE {table.where} {beyond}
                ORDER BY {", ".join(table.keys)} LIMIT ?""",
            (*(after or ()), limit),
        ).fetchall()
        upto = table.key_of(rows[-1]) if len(rows) == limit else None
        yield after, upto, rows
        after = upto


def put(
    conn: Connection, table: Table, after: Row | None, upto: Row | None, rows: Sequence[Row]
) -> None:
    """Makes the rows between two keys equal to those of the source, except their links.

    Rows that are equal already, as after a copy that was interrupted, are not written.

    Args:
        conn: A connection to the target.
        table: The table.
        after: The key before the first row; None for the beginning.
        upto: The key of the last row; None for the end.
        rows: All rows of the source between them.
    """
    plain = len(table.columns) - len(table.links)
    bounds = [table.where]
    if after is not None:
        bounds.append(_compared(table, ">"))
    if upto is not None:
        bounds.append(_compared(table, "<="))
    found = {
        table.key_of(row): row[:plain]
        for row in conn.execute(
            f"SELECT {', '.join(table.columns)} FROM {table.name} WHERE {' AND '.join(bounds)}",
            (*(after or ()), *(upto or ())),
        ).fetchall()
    }
    kept = {table.key_of(row) for row in rows}
    if gone := [key for key in found if key not in kept]:
        conn.executemany(f"DELETE FROM {table.name} WHERE {_compared(table, '=')}", gone)
    changed = [
        (*row[:plain], *row[len(table.columns) :])
        for row in rows
        if found.get(table.key_of(row)) != row[:plain]
    ]
    if changed:
        conn.executemany(_upsert(table, table.columns[:plain]), changed)


def _upsert(table: Table, names: Sequence[str]) -> str:
    names = [*names, *(["user_key"] if table.owner else [])]
    updates = [f"{name} = excluded.{name}" for name in names if name not in table.conflict]
    action = f"UPDATE SET {', '.join(updates)}" if updates else "NOTHING"
    return f"""INSERT INTO {table.name} ({", ".join(names)}) VALUES ({_marks(names)})
        ON CONFLICT ({", ".join(table.conflict)}) DO {action}"""


def clear_links(conn: Connection, table: Table) -> None:
    """Clears the links of a table, so that a row that is deleted takes no other with it."""
    conn.execute(
        f"""UPDATE {table.name} SET {", ".join(f"{name} = NULL" for name in table.links)}
            WHERE {" OR ".join(f"{name} IS NOT NULL" for name in table.links)}"""
    )


def set_links(conn: Connection, table: Table, rows: Sequence[Row]) -> None:
    """Sets the links of rows, all of which are there."""
    plain = len(table.columns) - len(table.links)
    conn.executemany(
        f"""UPDATE {table.name} SET {", ".join(f"{name} = ?" for name in table.links)}
            WHERE {_compared(table, "=")}""",
        [(*row[plain : len(table.columns)], *table.key_of(row)) for row in rows],
    )


def _compared(table: Table, operator: str) -> str:
    return f"({', '.join(table.keys)}) {operator} ({_marks(table.keys)})"


def _marks(names: Sequence[str]) -> str:
    return ", ".join("?" * len(names))


BLOCK: Final = 2000
"""Rows of a transaction."""


async def index(database: Database, progress: Callable[[str, int, int], None]) -> None:
    """Adds the terms of all rows that have an entry in an index of a kind with terms."""
    whole = sum([await database.read_all(_count, kind) for kind in WORDED])
    done = 0
    for kind in WORDED:
        await database.write_all(_clear, kind)
        after = (0, 0)
        while page := await database.read_all(_page, kind, after):
            await database.write_all(_add, kind, page)
            after = page[-1][:2]
            done += len(page)
            progress("indexing", done, whole)


def _count(conn: Connection, kind: EvidenceKind) -> int:
    return int(conn.scalar(f"SELECT count(*) FROM {kind}_entries"))


def _clear(conn: Connection, kind: EvidenceKind) -> None:
    conn.search.clear_terms(conn, kind)


def _page(
    conn: Connection, kind: EvidenceKind, after: tuple[int, int]
) -> list[tuple[int, int, str | None]]:
    """The next entries: user, row number, text."""
    return conn.execute(
        f"""SELECT e.user_key, e.id, f.text FROM (
                SELECT user_key, id FROM {kind}_entries WHERE (user_key, id) > (?, ?)
                ORDER BY user_key, id LIMIT ?) e
            LEFT JOIN ({TEXTS[kind]}) f ON f.id = e.id AND f.user_key = e.user_key
            ORDER BY e.user_key, e.id""",
        (*after, BLOCK),
    ).fetchall()


def _add(conn: Connection, kind: EvidenceKind, page: list[tuple[int, int, str | None]]) -> None:
    rows = [
        (UserKey(user), key, terms(text, conn.search.language))
        for user, key, text in page
        if text is not None
    ]
    conn.search.add_terms(conn, kind, rows)
