"""Deleted rows: the tables that keep them, and how a changed row is stored."""

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from hotmem.storage.database import Connection
from hotmem.storage.schema import TABLES
from hotmem.types import UserKey

Row: TypeAlias = dict[str, Any]
"""Values by column name."""


NOT_KEPT: Final = frozenset(
    {
        *("meta", "users", "index_revisions", "former_vectors", "leases"),
        *("failures", "audit", "deletions", "deleted_rows"),
    }
)
"""Tables of which no deleted rows are kept: of the program, of its jobs, and of deletions."""

UNDECLARED: Final[Mapping[str, Mapping[str, str]]] = {
    "passages": {"session": "sessions"},
    "passage_entries": {"session": "sessions", "id": "passages"},
    "pending_extractions": {"session": "sessions"},
    "memory_entries": {"id": "memories"},
    "summary_entries": {"id": "summaries", "session": "sessions"},
}
"""Foreign keys that the schema does not declare."""

FOREIGN_KEYS: Final[Mapping[str, Mapping[str, str]]] = {
    name: {**table.parents, **UNDECLARED.get(name, {})}
    for name, table in TABLES.items()
    if name not in NOT_KEPT
}
"""Tables whose deleted rows are kept, parents before children, with their foreign keys."""

NULLABLE_KEYS: Final = frozenset(
    (table.name, column.name)
    for table in TABLES.values()
    for column in table.columns
    if column.name in table.parents and not column.required and column.name not in table.primary
)
"""Foreign keys that may be null; they are set once all rows are restored."""


VECTOR_COLUMNS: Final = frozenset({"vector", "bits", "centroid"})
"""Columns computed by an encoder."""


SIGN_TABLES: Final = ("passage_signs", "memory_signs")
"""Tables whose rows are computed by an encoder."""


class Change(NamedTuple):
    """A change of a row: its table, and the row before and after; None where there was no row."""

    relation: str
    before: Row | None
    after: Row | None


def net_changes(
    columns: Mapping[str, list[tuple[str, int]]], seen: list[tuple[str, Any, Any]]
) -> Iterator[Change]:
    """The net change of each row, parents before children."""
    net: dict[tuple[str, tuple[Any, ...]], tuple[Any, Any]] = {}
    for relation, old, new in seen:
        keyed = [place for place, (_, key) in enumerate(columns[relation]) if key]
        known = old if old is not None else new
        place = relation, tuple(known[key] for key in keyed)
        net[place] = (net[place][0] if place in net else old, new)
    order = {relation: place for place, relation in enumerate(FOREIGN_KEYS)}
    for (relation, _), (old, new) in sorted(net.items(), key=lambda one: order[one[0][0]]):
        names = [name for name, _ in columns[relation]]
        before, after = (
            None if row is None else dict(zip(names, row, strict=True)) for row in (old, new)
        )
        if before != after:
            yield Change(relation, before, after)


def to_json(row: Row | None) -> str | None:
    """A row as JSON; bytes are base64 in an object."""
    if row is None:
        return None
    return json.dumps(
        {
            name: {"bytes": base64.b64encode(value).decode()} if isinstance(value, bytes) else value
            for name, value in row.items()
        }
    )


def from_json(text: str | None) -> Row | None:
    """The row of a stored JSON text."""
    if text is None:
        return None
    return {
        name: base64.b64decode(value["bytes"]) if isinstance(value, dict) else value
        for name, value in json.loads(text).items()
    }


def load(conn: Connection, user: UserKey, deletion: int) -> Iterator[Change]:
    """The changes of a deletion of the user, in their order.

    Rows have the columns of this engine, also if they were deleted in another and copied.
    """
    owned: dict[str, bool] = {}
    for relation, before, after in conn.execute(
        "SELECT relation, before, after FROM deleted_rows WHERE deletion = ? ORDER BY place",
        (deletion,),
    ).fetchall():
        if relation not in owned:
            owned[relation] = "user_key" in dict(conn.table_columns(relation))
        rows = from_json(before), from_json(after)
        for row in rows:
            if row is not None and owned[relation]:
                row.setdefault("user_key", user)
            elif row is not None:
                row.pop("user_key", None)
        yield Change(relation, *rows)
