"""The state of an import in progress."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeAlias

from hotmem.types import (
    ExportedTurn,
    ImportRecord,
    MemoryRecord,
    Turn,
    UserRecord,
)

Link: TypeAlias = tuple[str, str, Mapping[str, str]]
"""A user's id, a memory's id, and the ids of related memories by column."""


@dataclass(slots=True)
class ImportSession:
    """The state of an import in progress, in the program that reads the file.

    Attributes:
        source: Identifies the file and how it is read.
        form: What the file is, for the audit log.
        stored: Stored records by user id.
        read: Records read by user id.
        turns_read: Turns read by user id and session id.
        pending_sessions: User ids and session ids of sessions whose turns wait to be understood.
        links: Links between memories.
        with_forgotten: Whether what was forgotten is imported again.
    """

    source: str
    form: str
    stored: Counter[str]
    read: Counter[str] = field(default_factory=Counter)
    turns_read: Counter[tuple[str, str]] = field(default_factory=Counter)
    pending_sessions: set[tuple[str, str]] = field(default_factory=set)
    links: list[Link] = field(default_factory=list)
    with_forgotten: bool = False

    def next_batch(self, records: Iterator[ImportRecord], limit: int) -> list[ImportRecord] | None:
        """The next records that are not stored yet; None at the end."""
        batch = list(islice(records, limit))
        return [record for record in batch if self._register(record)] if batch else None

    def _register(self, record: ImportRecord) -> bool:
        user_id = user_id_of(record)
        self.read[user_id] += 1
        match record:
            case Turn() | ExportedTurn():
                turn = turn_of(record)
                self.turns_read[user_id, turn.session_id] += 1
                if record is turn:
                    self.pending_sessions.add((user_id, turn.session_id))
            case UserRecord(_, MemoryRecord() as memory) if memory.links:
                self.links.append((user_id, memory.id, memory.links))
        return self.read[user_id] > self.stored[user_id]


def user_id_of(record: ImportRecord) -> str:
    """The id of the user a record belongs to."""
    return record.user_id if isinstance(record, Turn | UserRecord) else record.turn.user_id


def turn_of(record: Turn | ExportedTurn) -> Turn:
    """The turn of a record."""
    return record.turn if isinstance(record, ExportedTurn) else record
