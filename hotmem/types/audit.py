"""Who looked at a memory, changed it or took something out of it.

Ids, counts and times, and never a word.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Actor(StrEnum):
    """On whose behalf something is done.

    The user's own voice, the bot's model, or who uses one of the other doors.
    """

    VOICE = "voice"
    TOOL = "tool"
    MCP = "mcp"
    INSPECTOR = "inspector"
    COMMAND_LINE = "command line"
    PROGRAM = "program"
    RETENTION = "retention"


class Action(StrEnum):
    """What is done. Why a memory was changed is among the decisions."""

    READ = "read"
    CHANGE = "change"
    FORGET = "forget"
    EXPORT = "export"
    BACKUP = "backup"


@dataclass(frozen=True, slots=True)
class Act:
    """Something that was done.

    Attributes:
        action: What sort of thing.
        what: With what: the name of a tool or a page, or the kind of thing that was forgotten.
        turns: Turns that were found, or went.
        memories: The same of memories.
        sessions: The same of sessions.
    """

    action: Action
    what: str
    turns: int = 0
    memories: int = 0
    sessions: int = 0


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An act on record.

    Attributes:
        number: Its own number; all that is left to call an erased user by.
        at: When, UTC.
        user_id: Whose memory; None of all users together, or of a user who was erased.
        who: On whose behalf.
        act: What was done.
    """

    number: int
    at: datetime
    user_id: str | None
    who: Actor
    act: Act
