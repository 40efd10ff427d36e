"""Audit log entries: who read, changed or removed what, without any text."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Actor(StrEnum):
    """The interface through which an action was requested."""

    VOICE = "voice"
    TOOL = "tool"
    MCP = "mcp"
    INSPECTOR = "inspector"
    COMMAND_LINE = "command line"
    PROGRAM = "program"
    RETENTION = "retention"


class Action(StrEnum):
    """The kind of action. The reasons for changes are recorded as decisions."""

    READ = "read"
    CHANGE = "change"
    FORGET = "forget"
    EXPORT = "export"
    BACKUP = "backup"


@dataclass(frozen=True, slots=True)
class Act:
    """An action and the number of records it affected.

    Attributes:
        action: The kind of action.
        what: The name of the tool or page, or the kind of records that were removed.
        turns: Turns read or removed.
        memories: Memories read or removed.
        sessions: Sessions read or removed.
    """

    action: Action
    what: str
    turns: int = 0
    memories: int = 0
    sessions: int = 0


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An entry of the audit log.

    Attributes:
        number: The entry's number, which remains when the user is erased.
        at: When, UTC.
        user_id: The user; None for all users together and for a user who was erased.
        who: The interface.
        act: The action.
    """

    number: int
    at: datetime
    user_id: str | None
    who: Actor
    act: Act
