"""Conflicts of a new memory with stored ones, and the tool calls that settle them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool.

    Attributes:
        tool: Name of the tool.
        arguments: Its arguments.
        effect: What it does, in a few words.
    """

    tool: str
    arguments: Mapping[str, Any]
    effect: str


class ConflictAdvice(StrEnum):
    """What became of a memory that a new one contradicts."""

    UPDATE = "update"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True)
class Conflict:
    """A stored memory that a new one contradicts.

    Attributes:
        advice: "update" if the new one replaced it, so that it has ended; "conflict" if that is
            not certain, so that it is possibly outdated until somebody decides.
        id: Id of the new memory.
        old_id: Id of the stored one.
        old_content: Text of the stored one.
        said_at: When it was last said or stored, UTC.
        calls: Calls that settle it or take it back.
    """

    advice: ConflictAdvice
    id: str
    old_id: str
    old_content: str
    said_at: datetime
    calls: tuple[Call, ...]


def settle(old_id: str) -> tuple[Call, ...]:
    """The calls that settle whether a memory that is possibly outdated still holds."""
    return (
        Call("edit_memory", {"id": old_id, "holds": False}, "the new one is right: end the old"),
        Call("edit_memory", {"id": old_id, "holds": True}, "both are right: keep the old"),
    )
