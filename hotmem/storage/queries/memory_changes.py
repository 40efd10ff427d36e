"""What a decision changes of memories, as it is stored and as it is shown.

A decision keeps the values before and after as JSON, by memory and field:

    {"3f2a…": {"category": ["resources", "projects"], "tags": [["car"], ["car", "insurance"]]}}

Memories and turns are named by their ids, subcategories by their row numbers, so that no name of a
subcategory outlives the memories whose words it has.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from hotmem.storage.queries.times import from_stored
from hotmem.types import MemoryChange

State: TypeAlias = dict[str, Any]
"""Values of a memory by field."""

Changes: TypeAlias = dict[str, dict[str, list[Any]]]
"""The value before and after, by memory id and field."""

MOMENTS: Final = frozenset({"valid_until", "doubted_at", "said_at", "order_time"})
"""Fields that are times."""


def difference(before: Mapping[str, State], after: Mapping[str, State]) -> Changes:
    """What has changed of the memories that still exist."""
    changes = {
        memory: {
            field: [value, after[memory][field]]
            for field, value in state.items()
            if after[memory][field] != value
        }
        for memory, state in before.items()
        if memory in after
    }
    return {memory: fields for memory, fields in changes.items() if fields}


def to_json(changes: Changes) -> str | None:
    """Changes as they are stored; None if there are none."""
    return json.dumps(changes, ensure_ascii=False) if changes else None


def texts(changes: str | None) -> Iterator[str]:
    """All texts in stored changes: notes, tags and ids."""
    waiting = [] if changes is None else [json.loads(changes)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            waiting += value.values()


def former_categories(changes: str | None) -> set[str]:
    """The categories that the memories of stored changes had before or after."""
    return {
        value
        for fields in ({} if changes is None else json.loads(changes)).values()
        for value in fields.get("category", ())
    }


def shown(changes: str | None, names: Mapping[int, str]) -> tuple[MemoryChange, ...]:
    """Stored changes for people.

    Args:
        changes: The changes.
        names: Names of subcategories, by row number; those that no longer exist are left out.
    """

    def written(field: str, value: Any) -> str | None:  # noqa: ANN401 - any value of a field
        if value is None:
            return None
        if field in MOMENTS:
            return from_stored(value).isoformat()
        if field == "subcategories":
            value = [names[one] for one in value if one in names]
        return ", ".join(value) or None if isinstance(value, list) else str(value)

    return tuple(
        MemoryChange(memory, field, written(field, before), written(field, after))
        for memory, fields in ({} if changes is None else json.loads(changes)).items()
        for field, (before, after) in fields.items()
    )
