"""The state of memories before and after a decision, and how a former state is restored."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from hotmem.errors import InvalidInput
from hotmem.storage.database import Connection
from hotmem.storage.queries import tags
from hotmem.storage.queries.decisions import Changes, State, merge_into, unmerge
from hotmem.storage.queries.times import Table, row_of
from hotmem.types import UserKey

VALUES: Final = ("kind", "category", "importance", "note", "valid_until", "doubted_at")
"""Fields whose columns hold the value itself."""

COUNTERS: Final = ("confirmations", "said_at", "order_time")
"""Fields that also change when a memory is said again."""

LINKS: Final[dict[str, Table]] = {
    "superseded_by": "memories",
    "doubted_by": "memories",
    "doubted_in": "turns",
    "merged_into": "memories",
}
"""Fields that name another row, with its table."""

LISTS: Final = ("tags", "found_tags", "subcategories")
"""Fields with several values: tags that were given, tags found in the words, subcategories."""

STATE: Final = f"""
    SELECT m.public_id, {", ".join(f"m.{column}" for column in (*VALUES, *COUNTERS))},
        {
    ", ".join(
        f"(SELECT o.public_id FROM {of} o WHERE o.id = m.{link})" for link, of in LINKS.items()
    )
},
        (SELECT json_group_array(n.name) FROM (SELECT g.name FROM memory_tags x JOIN tags g
            ON g.id = x.tag WHERE x.memory = m.id AND x.found = 0 ORDER BY g.name) n),
        (SELECT json_group_array(n.name) FROM (SELECT g.name FROM memory_tags x JOIN tags g
            ON g.id = x.tag WHERE x.memory = m.id AND x.found <> 0 ORDER BY g.name) n),
        (SELECT json_group_array(n.subcategory) FROM (SELECT x.subcategory
            FROM subcategory_members x WHERE x.memory = m.id ORDER BY x.subcategory) n)
    FROM memories m WHERE m.user_key = ? AND m.id = ANY(?)"""


def of(conn: Connection, user: UserKey, keys: Iterable[int]) -> dict[str, State]:
    """The states of the user's memories of these row numbers, by memory id."""
    names = (*VALUES, *COUNTERS, *LINKS)
    found = {}
    for memory, *values in conn.execute(STATE, (user, sorted(set(keys)))):
        plain, lists = values[: len(names)], values[len(names) :]
        found[memory] = dict(zip(names, plain, strict=True)) | dict(
            zip(LISTS, map(json.loads, lists), strict=True)
        )
    return found


def existing(conn: Connection, user: UserKey, keys: Iterable[int]) -> list[int]:
    """Those of the row numbers that are memories of the user."""
    sql = "SELECT id FROM memories WHERE user_key = ? AND id = ANY(?) ORDER BY id"
    return conn.column(sql, (user, sorted(set(keys))))


def reverse(conn: Connection, user: UserKey, changes: str, now: datetime) -> None:
    """Gives memories the values they had before stored changes.

    Counters keep what was added since. A subcategory, a tag or a cause of a doubt that no longer
    exists is left out.

    Raises:
        InvalidInput: If a memory has been changed again since.
    """
    stored: Changes = json.loads(changes)
    keys = {
        name: key
        for key, name in conn.execute(
            "SELECT id, public_id FROM memories WHERE user_key = ? AND public_id = ANY(?)",
            (user, list(stored)),
        ).fetchall()
    }
    present = of(conn, user, keys.values())
    for memory, fields in stored.items():
        if memory not in keys or any(
            present[memory][field] != after
            for field, (_, after) in fields.items()
            if field not in COUNTERS and field != "subcategories"
        ):
            raise InvalidInput(
                "A memory was changed again after this decision. Undo the later change first."
            )
    for memory, fields in stored.items():
        _restore(conn, user, keys[memory], present[memory], fields, now)


def _restore(
    conn: Connection,
    user: UserKey,
    key: int,
    present: State,
    fields: Mapping[str, list[Any]],
    now: datetime,
) -> None:
    """Sets fields of a memory to the former of their two values."""
    columns: dict[str, Any] = {}
    for field, (before, after) in fields.items():
        if field in VALUES:
            columns[field] = before
        elif field == "confirmations":
            columns[field] = max(present[field] - after + before, 0)
        elif field in COUNTERS and present[field] == after:
            columns[field] = before
        elif field in LINKS and field != "merged_into":
            columns[field] = row_of(conn, user, LINKS[field], before)
    causes = [field for field in ("doubted_by", "doubted_in") if fields.get(field, (None,))[0]]
    if causes and all(columns[field] is None for field in causes):
        columns["doubted_at"] = None  # what caused the doubt is forgotten
    for column, value in columns.items():
        conn.execute(
            f"UPDATE memories SET {column} = ? WHERE id = ? AND +user_key = ?", (value, key, user)
        )
    if "tags" in fields or "found_tags" in fields:
        given, found = (fields.get(field, (present[field],))[0] for field in LISTS[:2])
        tags.replace(conn, user, key, given, now, found=found)
    if "subcategories" in fields:
        conn.execute("DELETE FROM subcategory_members WHERE memory = ?", (key,))
        conn.execute(
            """INSERT INTO subcategory_members (subcategory, memory)
                SELECT s.id, CAST(? AS BIGINT) FROM subcategories s
                    JOIN evolutions e ON e.id = s.evolution
                    WHERE e.user_key = ? AND s.id = ANY(?)""",
            (key, user, fields["subcategories"][0]),
        )
    if "merged_into" in fields:
        into = row_of(conn, user, "memories", fields["merged_into"][0])
        if into is None:
            unmerge(conn, user, key)
        else:
            merge_into(conn, user, key, into)
