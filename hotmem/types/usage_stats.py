"""Data of the usage statistics and the diagnostics tools."""

from dataclasses import dataclass
from datetime import datetime

from hotmem.types.vocabulary import EvidenceKind


@dataclass(frozen=True, slots=True)
class Label:
    """A name or a topic: its lookup key, its spelling, and whether it is a name."""

    key: str
    name: str
    named: bool


@dataclass(frozen=True, slots=True)
class LabelMentions:
    """A label, and the row numbers of the turns and memories that mention it."""

    label: Label
    turns: frozenset[int]
    memories: frozenset[int]

    @property
    def count(self) -> int:
        """Number of turns and memories."""
        return len(self.turns) + len(self.memories)


@dataclass(frozen=True, slots=True)
class AnsweredRecall:
    """A recall that a reply followed.

    Attributes:
        at: When the query was asked, UTC.
        session_id: The session, or None.
        query: The query.
        given: Number of items in the context block.
        used: Number of those that the reply used.
    """

    at: datetime
    session_id: str | None
    query: str
    given: int
    used: int


@dataclass(frozen=True, slots=True)
class UseCount:
    """Number of items given to the language model, and of those that replies used."""

    given: int
    used: int


@dataclass(frozen=True, slots=True)
class UsedMemory:
    """A memory, and how often searches and replies used it.

    Attributes:
        id: The memory's id.
        content: Its text.
        accesses: Number of uses.
        last_accessed: When it was last used, UTC.
    """

    id: str
    content: str
    accesses: int
    last_accessed: datetime | None


@dataclass(frozen=True, slots=True)
class LocatedRow:
    """A row that holds what a search was expected to find.

    Attributes:
        kind: The kind of evidence.
        key: Its row number.
        id: Id of the memory or turn.
        content: Its text.
        embedded: Whether it has an embedding yet.
        merged_into: Id of the memory that it was merged into.
    """

    kind: EvidenceKind
    key: int
    id: str
    content: str
    embedded: bool
    merged_into: str | None = None
