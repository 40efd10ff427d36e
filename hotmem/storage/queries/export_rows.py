"""Reads everything stored about a user: turns, memories, summaries, understandings.

Vectors and index entries are left out, as they are computed from the texts.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, TextIO, get_args, get_type_hints

from pydantic import AwareDatetime

from hotmem.storage.database import Connection
from hotmem.storage.queries import event_times, sessions, subcategories
from hotmem.storage.queries.times import from_stored
from hotmem.storage.queries.turns import of_user as turns_of_user
from hotmem.storage.rows import record_of
from hotmem.storage.schema import TABLES, Table
from hotmem.types import (
    ExportedTurn,
    MemoryRecord,
    SourceSpan,
    SummaryRecord,
    UserKey,
)

LINKS: Final = [name for name, parent in TABLES["memories"].parents.items() if parent == "memories"]
TIMES: Final = [
    name
    for name, hint in get_type_hints(MemoryRecord).items()
    if AwareDatetime in (hint, *get_args(hint))
]
PLAIN: Final = [
    column.name
    for column in TABLES["memories"].columns
    if column.name in MemoryRecord.__match_args__
    and column.name not in (*TIMES, *TABLES["memories"].parents, "id")
]
"""Columns of a memory: row numbers of other memories, times, and plain values."""

TAGS: Final = """
    (SELECT json_group_array(n.name) FROM (
        SELECT g.name FROM memory_tags x JOIN tags o ON o.id = x.tag JOIN tags g
            ON g.id = coalesce(o.merged_into, o.id) AND g.user_key = o.user_key
        WHERE x.memory = m.id GROUP BY g.name HAVING min(x.found) = {found} ORDER BY g.name) n)"""
"""Tags that were given to a memory `m`, or that were found in its words."""

ENTITIES: Final = """
    (SELECT json_group_array(n.name) FROM (
        SELECT e.name FROM {of}_entities x JOIN entities e ON e.id = x.entity
        WHERE x.{of} = {row}.id ORDER BY x.entity) n)"""
"""Names in a turn or a memory."""

FIELDS: Final = {
    "id": "m.public_id",
    **{link: f"(SELECT o.public_id FROM memories o WHERE o.id = m.{link})" for link in LINKS},
    "doubted_in": "(SELECT t.public_id FROM turns t WHERE t.id = m.doubted_in)",
    "order_time": "nullif(m.order_time, m.said_at)",
    "tags": TAGS.format(found=0),
    "found_tags": TAGS.format(found=1),
    "entities": ENTITIES.format(of="memory", row="m"),
    "words": "'[]'",
    "subcategory": f"({subcategories.NAME_OF_MEMORY})",
}
"""Fields of a `MemoryRecord` that are no columns of its memory `m`; its words are read apart."""

MEMORY: Final = f"""
    SELECT m.id, {", ".join(FIELDS.get(name, f"m.{name}") for name in MemoryRecord.__match_args__)}
    FROM memories m WHERE m.user_key = ? AND m.id > ?
        AND NOT EXISTS (SELECT 1 FROM sources x WHERE x.memory = m.id AND x.turn > ?)
    ORDER BY m.id LIMIT ?"""

DERIVED_OF_TURNS: Final = f"""
    SELECT t.id, {ENTITIES.format(of="turn", row="t")}, '[]',
        coalesce((SELECT c.times FROM correction_counts c WHERE c.turn = t.id), 0),
        EXISTS (SELECT 1 FROM pending_turns p WHERE p.turn = t.id),
        nullif(t.order_time, t.spoken_at)
    FROM turns t WHERE +t.user_key = ? AND t.id = ANY(?)"""
"""The columns of an `ExportedTurn` after the turn, without the times of events."""

SPANS: Final = """
    SELECT x.memory, t.public_id, x.start, x.stop FROM sources x JOIN turns t ON t.id = x.turn
    WHERE x.memory = ANY(?) ORDER BY x.memory, x.turn, x.start"""


def turns(
    conn: Connection, user: UserKey, after: int, limit: int
) -> list[tuple[int, ExportedTurn]]:
    """The user's next turns after a row number, by row number, with what was derived from them."""
    page = turns_of_user(conn, user, after, limit)
    keys = [key for key, _ in page]
    times = event_times.of_turns(conn, user, keys)
    derived = {key: row for key, *row in conn.execute(DERIVED_OF_TURNS, (user, keys)).fetchall()}
    exported = ((key, record_of(ExportedTurn, (turn, *derived[key]))) for key, turn in page)
    return [(key, replace(turn, event_times=times.get(key, ()))) for key, turn in exported]


def memories(
    conn: Connection, user: UserKey, after: int, limit: int, last_turn: int
) -> list[tuple[int, MemoryRecord]]:
    """The user's next memories after a row number, in order of row numbers.

    Memories extracted from turns after the last turn are left out.
    """
    rows = conn.execute(MEMORY, (user, after, last_turn, limit)).fetchall()
    spans: defaultdict[int, tuple[SourceSpan, ...]] = defaultdict(tuple)
    for key, *span in conn.execute(SPANS, ([row[0] for row in rows],)):
        spans[key] += (SourceSpan(*span),)
    records = ((key, record_of(MemoryRecord, row)) for key, *row in rows)
    return [(key, replace(memory, words=spans[key])) for key, memory in records]


def summaries(conn: Connection, user: UserKey) -> list[SummaryRecord]:
    """The user's summaries."""
    rows = conn.execute(
        """SELECT y.id, s.public_id, y.topics, y.text FROM summaries y JOIN sessions s
            ON s.id = y.id WHERE y.user_key = ? ORDER BY y.id""",
        (user,),
    )
    return [
        SummaryRecord(session, tuple(json.loads(topics)), text, sessions.sentences_of(conn, key))
        for key, session, topics, text in rows.fetchall()
    ]


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
        name: conn.scalar(f"SELECT count(*) FROM {name} WHERE {table.condition}", {"user": user})
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
