"""Damaged rows: values that cannot be read, and references to rows that are gone.

They are mended by what the program can go on with: vectors are computed again, what else cannot be
read is left out, and references are cut. What was said or stored is never deleted.
"""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from hotmem.storage.database import Connection
from hotmem.storage.queries import reembedding
from hotmem.storage.queries.index_entries import SIGNED, TABLES
from hotmem.storage.schema import TABLES as SCHEMA
from hotmem.types import Category, DecisionAction, Fault, Kind, Role


class Encoded(NamedTuple):
    """A column whose values are decoded.

    Attributes:
        table: Its table.
        column: Its name.
        kind: What its JSON holds; bytes for a vector of the database's encoder.
        instead: What stands in place of a value that cannot be read.
    """

    table: str
    column: str
    kind: type
    instead: str | None


ENCODED: Final = (
    Encoded("passages", "vector", bytes, None),
    Encoded("memories", "vector", bytes, None),
    Encoded("summaries", "vector", bytes, None),
    Encoded("tags", "vector", bytes, None),
    Encoded("subcategories", "centroid", bytes, None),
    Encoded("evolutions", "centre", bytes, None),
    Encoded("decisions", "changes", dict, None),
    Encoded("summaries", "topics", list, "[]"),
    Encoded("subcategories", "keywords", list, "[]"),
    Encoded("subcategories", "examples", list, "[]"),
    Encoded("quality", "latencies", list, "[]"),
    Encoded("recall_items", "layers", list, "[]"),
    Encoded("recall_items", "turns", list, "[]"),
    Encoded("deletions", "counts", dict, '{"turns": 0, "memories": 0, "sessions": 0}'),
    Encoded("deleted_rows", "before", dict, None),
    Encoded("deleted_rows", "after", dict, None),
)

NAMES: Final = (
    ("memories", "kind", Kind),
    ("memories", "category", Category),
    ("turns", "role", Role),
    ("decisions", "action", DecisionAction),
)
"""Columns that hold one of some names."""

DAMAGED_SIGNS: Final = "length(signs) % nullif(width, 0) IS DISTINCT FROM 0"


def faults(conn: Connection) -> list[Fault]:
    """Values that cannot be read, by table, and unknown names."""
    damaged = Counter(encoded.table for encoded, _ in _unreadable(conn))
    for kind in SIGNED:
        sql = f"SELECT count(*) FROM {kind}_signs WHERE {DAMAGED_SIGNS}"
        damaged[f"{kind}_signs"] += conn.scalar(sql)
    found = [
        Fault("values", count, f"values of {table} that cannot be read")
        for table, count in damaged.items()
        if count
    ]
    for table, column, names in NAMES:
        sql = f"SELECT count(*) FROM {table} WHERE NOT {column} = ANY(?)"
        if count := conn.scalar(sql, ([*names],)):
            found.append(Fault("rows", count, f"rows of {table} with an unknown {column}"))
    return found


def mend(conn: Connection) -> None:
    """Replaces values that cannot be read, and cuts references to rows that are gone."""
    for table in SCHEMA.values():
        for column in table.columns:
            if column.parent is None or (column.required and column.name not in table.primary):
                continue  # without it the row belongs to nothing: only a backup helps
            gone = f"{column.name} NOT IN (SELECT id FROM {column.parent})"
            if column.name in table.primary:
                conn.execute(f"DELETE FROM {table.name} WHERE {gone}")
            else:
                conn.execute(f"UPDATE {table.name} SET {column.name} = NULL WHERE {gone}")
    for encoded, key in list(_unreadable(conn)):
        where = " AND ".join(f"{name} = ?" for name in SCHEMA[encoded.table].primary)
        conn.execute(
            f"UPDATE {encoded.table} SET {encoded.column} = ? WHERE {where}",
            (encoded.instead, *key),
        )
    for kind in SIGNED:
        sql = f"DELETE FROM {kind}_signs WHERE {DAMAGED_SIGNS} RETURNING {kind}"
        keys = conn.column(sql)
        conn.execute(f"UPDATE {TABLES[kind]} SET vector = NULL WHERE id = ANY(?)", (keys,))


def _unreadable(conn: Connection) -> Iterator[tuple[Encoded, list[Any]]]:
    """Values that cannot be read, each with the primary key of its row."""
    size = reembedding.dimension(conn)
    for encoded in ENCODED:
        table, column = encoded.table, encoded.column
        key = ", ".join(SCHEMA[table].primary)
        sql = f"SELECT {column}, {key} FROM {table} WHERE {column} IS NOT NULL"
        for value, *found in conn.execute(sql).fetchall():
            if encoded.kind is bytes:
                readable = isinstance(value, bytes) and size in (None, len(value))
            else:
                readable = _holds(value, encoded.kind)
            if not readable:
                yield encoded, found


def _holds(text: str, kind: type) -> bool:
    try:
        return isinstance(json.loads(text), kind)
    except ValueError:
        return False
