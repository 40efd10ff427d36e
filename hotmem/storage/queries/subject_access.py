"""Everything stored about one user, as a document for people: each table and all its rows of them.

References between rows are row numbers within the document. Times are ISO 8601 in UTC.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final, TextIO

from hotmem.storage.database import Connection
from hotmem.storage.queries.times import from_stored
from hotmem.storage.schema import TABLES, Table
from hotmem.types import UserKey

DOCUMENT_TYPE: Final = "subject export"
"""The document's type, in its first field."""

HELD: Final[Mapping[str, Table]] = {name: table for name, table in TABLES.items() if table.rows}
"""The tables of the document."""

DERIVED: Final = (
    "derived from the words above, which are exported in full; used by the search alone"
)

LEFT_OUT: Final = {
    "passages": DERIVED,
    "passage_signs": DERIVED,
    "memory_signs": DERIVED,
    "passage_entries": DERIVED,
    "memory_entries": DERIVED,
    "summary_entries": DERIVED,
    "passage_words": DERIVED,
    "memory_words": DERIVED,
    "index_revisions": "counts changes of the search indexes",
    "leases": "which worker runs background jobs, for a minute at a time",
    "deleted_rows": "what was asked to be forgotten; it is erased for good at the time "
    "given by deletions",
    "tombstones": "keyed hashes of the ids of what was forgotten, which reveal nothing else",
}
"""Tables with rows of a user that are left out, and why."""

MOMENTS: Final = frozenset({"at", "since", "until", "valid_until"})
"""Columns that hold times, besides those with a name that ends in _at."""


def write(conn: Connection, user: UserKey, now: datetime, out: TextIO) -> dict[str, int]:
    """Writes the document as of one moment; returns the number of rows of each table.

    Args:
        conn: A connection, within a transaction.
        user: The user.
        now: When it is written.
        out: Where it is written, one row a line.
    """
    counts = {
        name: conn.execute(
            f"SELECT count(*) FROM {name} WHERE {table.condition}", {"user": user}
        ).fetchone()[0]
        for name, table in HELD.items()
    }
    contents = [
        {"table": name, "holds": HELD[name].rows, "rows": count} for name, count in counts.items()
    ]
    head = {
        "type": DOCUMENT_TYPE,
        "made_at": now.isoformat(),
        "contents": contents,
        "left_out": LEFT_OUT,
    }
    out.write(
        "{\n"
        + ",\n".join(
            f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False, indent=1)}"
            for name, value in head.items()
        )
    )
    for name, table in HELD.items():
        out.write(f",\n{json.dumps(name)}: [")
        for place, row in enumerate(_rows(conn, table, user)):
            out.write(("," if place else "") + "\n" + json.dumps(row, ensure_ascii=False))
        out.write("\n]")
    out.write("\n}\n")
    return counts


def _rows(conn: Connection, table: Table, user: UserKey) -> Iterator[dict[str, Any]]:
    """The user's rows by column, without vectors and the user's row number."""
    rows = conn.execute(f"SELECT * FROM {table.name} WHERE {table.condition}", {"user": user})
    for row in rows:
        names = [column[0] for column in rows.description]
        yield {
            name: _readable(name, value)
            for name, value in zip(names, row, strict=True)
            if name != "user_key" and not isinstance(value, bytes)
        }


def _readable(name: str, value: Any) -> Any:  # noqa: ANN401 - what a column holds
    if isinstance(value, int) and (name in MOMENTS or name.endswith("_at")):
        try:
            return from_stored(value).isoformat()
        except OverflowError:  # an open end
            return None
    return value
