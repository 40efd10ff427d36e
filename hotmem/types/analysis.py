"""What the tools of analysis read of a memory."""

from dataclasses import dataclass
from datetime import datetime

from hotmem.types.vocabulary import EvidenceKind


@dataclass(frozen=True, slots=True)
class Label:
    """A name or a concept: the key it is found under, how it is written, and whether it is a name."""

    key: str
    name: str
    named: bool


@dataclass(frozen=True, slots=True)
class Mention:
    """A label with the row numbers of the turns and memories that hold it."""

    label: Label
    turns: frozenset[int]
    memories: frozenset[int]

    @property
    def count(self) -> int:
        """Turns and memories together."""
        return len(self.turns) + len(self.memories)


@dataclass(frozen=True, slots=True)
class AnsweredRecall:
    """A recall that a reply followed.

    When, in which session, what was asked, how many items were given and how many the reply used.
    """

    at: datetime
    session_id: str | None
    query: str
    given: int
    used: int


@dataclass(frozen=True, slots=True)
class UseCount:
    """Items given to the language model, and those of them that replies used."""

    given: int
    used: int


@dataclass(frozen=True, slots=True)
class UsedMemory:
    """A memory, and how often a search or a reply used it.

    Its id, its words, how often, and when last, UTC.
    """

    id: str
    content: str
    accesses: int
    last_accessed: datetime | None


@dataclass(frozen=True, slots=True)
class LocatedRow:
    """A row that holds what was expected of a search.

    Attributes:
        kind: What it is.
        key: Its row number.
        id: The memory's or the turn's id.
        content: The words.
        embedded: Whether it is found by its meaning already.
        merged_into: Id of the memory that stands for it.
    """

    kind: EvidenceKind
    key: int
    id: str
    content: str
    embedded: bool
    merged_into: str | None = None
