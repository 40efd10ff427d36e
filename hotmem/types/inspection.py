"""What a person looks at: a user's rows as the inspector shows them, one screen at a time."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Generic, Self, TypeVar

from hotmem.errors import InvalidInput
from hotmem.types.vocabulary import Category, Kind, Role

T = TypeVar("T")

_CURSOR: Final = re.compile(r"(on|back)_(-?\d{1,18})_(\d{1,18})")


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in an ordered list, by what the list is ordered by.

    What comes in between does not move it.

    Attributes:
        value: The number that the list is ordered by, of the row at the edge.
        key: Its row number, for those of the same value.
        back: Whether what stands before it is wanted, and not what follows.
    """

    value: int
    key: int
    back: bool = False

    def __str__(self) -> str:
        return f"{'back' if self.back else 'on'}_{self.value}_{self.key}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The cursor that was written so.

        Raises:
            InvalidInput: If none was.
        """
        found = _CURSOR.fullmatch(text)
        if found is None:
            raise InvalidInput(f"{text[:40]!r} is no place in this list. Open its first page.")
        return cls(int(found[2]), int(found[3]), found[1] == "back")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A stretch of a list, and where the stretches before and behind it begin, if there are any."""

    rows: tuple[T, ...]
    before: Cursor | None = None
    behind: Cursor | None = None


@dataclass(frozen=True, slots=True)
class Count:
    """How many; where it is not `exact`, at least so many."""

    rows: int
    exact: bool = True

    def __str__(self) -> str:
        return f"{self.rows:,}" if self.exact else f"{self.rows:,}+"


@dataclass(frozen=True, slots=True)
class Totals:
    """How much there is of a user, each counted up to a bound.

    Attributes:
        turns: What was said.
        sessions: Conversations.
        memories: Statements, those that no longer hold among them.
        entities: Names spoken of.
        waiting: Turns that are not understood yet.
        first_said: When the first turn was spoken, UTC.
        last_said: When the last one was.
    """

    turns: Count
    sessions: Count
    memories: Count
    entities: Count
    waiting: Count
    first_said: datetime | None
    last_said: datetime | None


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A conversation: its row number, its id, when it began and ended, its turns, and the topics of its summary."""

    key: int
    id: str
    started_at: datetime
    last_at: datetime
    turns: Count
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn.

    Attributes:
        key: Its row number.
        id: Its id.
        session: Row number of its session.
        session_id: The session's id.
        role: The speaker's role.
        speaker: Who spoke, if known.
        text: The words.
        spoken_at: When, in the zone it was spoken in, if that is known, otherwise in UTC.
        memories: Memories that were read from it.
        waiting: Whether it is not understood yet.
    """

    key: int
    id: str
    session: int
    session_id: str
    role: Role
    speaker: str | None
    text: str
    spoken_at: datetime
    memories: int
    waiting: bool


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Which memories are wanted; None and () are any.

    Attributes:
        kind: Of this kind.
        category: Of this category.
        holds: Those that hold at `now`, or those that do not.
        now: The wall clock.
        tag: Filed under this tag, or under one that it stands for.
        keys: Among these row numbers.
    """

    now: datetime
    kind: Kind | None = None
    category: Category | None = None
    holds: bool | None = None
    tag: str | None = None
    keys: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A memory in a list.

    Attributes:
        key: Its row number.
        id: Its id.
        text: The statement.
        kind: What sort of statement it is.
        category: Where it belongs.
        importance: 1 to 5.
        said_at: When it was last said, UTC.
        valid_until: When it stopped, or stops, being true, UTC; None while nothing ends it.
        merged: Whether another memory stands for it.
        noted: Whether it was stored or edited by hand, and not read from what was said.
    """

    key: int
    id: str
    text: str
    kind: Kind
    category: Category
    importance: int
    said_at: datetime
    valid_until: datetime | None
    merged: bool
    noted: bool


@dataclass(frozen=True, slots=True)
class SourceWords:
    """A turn that a memory was read from, and the characters of it that hold the words."""

    turn: TurnRow
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class MemoryDetails:
    """Everything about one memory.

    Attributes:
        row: What a list shows of it.
        subcategory: Where in its category it belongs, if that has evolved.
        subject: Whom or what it is about; "" where that was not read.
        relation: What is said of it.
        object: The value.
        hedged: Said with doubt.
        negated: Says that something is not so.
        changes: Of a sort that changes with time.
        single: A new value of its relation replaces it.
        confirmations: How often it was said again.
        accesses: How often a search or a reply used it.
        accessed_at: When last, UTC.
        noted_at: When it was stored or edited by hand, UTC.
        origin: Where one that was stored comes from.
        remark: The user's remark.
        tags: What it is filed under.
        entities: Names in it, with their row numbers.
        sources: The latest turns it was read from.
        replaced_by: The memory that took its place.
        merged_into: The memory that stands for it.
        replaces: Memories whose place it took, latest first.
        stands_for: Memories that went into it.
        decisions: What was decided about it, latest first: action, reason, time.
    """

    row: MemoryRow
    subcategory: str | None
    subject: str
    relation: str
    object: str
    hedged: bool
    negated: bool
    changes: bool
    single: bool
    confirmations: int
    accesses: int
    accessed_at: datetime | None
    noted_at: datetime | None
    origin: str | None
    remark: str | None
    tags: tuple[str, ...]
    entities: Mapping[str, int]
    sources: tuple[SourceWords, ...]
    replaced_by: MemoryRow | None
    merged_into: MemoryRow | None
    replaces: tuple[MemoryRow, ...]
    stands_for: tuple[MemoryRow, ...]
    decisions: tuple[tuple[str, str, datetime], ...]


@dataclass(frozen=True, slots=True)
class EntityRow:
    """A name that is spoken of.

    Its row number, how it is written, and the turns and memories that mention it.
    """

    key: int
    name: str
    turns: int
    memories: int


@dataclass(frozen=True, slots=True)
class EntityGraph:
    """The names mentioned most, and how often two of them stand together in a turn or a memory, by their places in `entities`."""

    entities: tuple[EntityRow, ...]
    links: Mapping[tuple[int, int], int]


@dataclass(frozen=True, slots=True)
class RecallRow:
    """A question that was answered with memory, as it was recorded.

    Attributes:
        key: Its row number.
        query: The question.
        session: Row number of its session, if there is one.
        session_id: The session's id, if there was one.
        asked_at: When, UTC.
        given: Items of the block.
        used: Items that the reply used.
        tokens: Tokens of the block.
        ms: Milliseconds the recall took.
        interrupted: Whether the reply was cut off.
    """

    key: int
    query: str
    session: int | None
    session_id: str | None
    asked_at: datetime
    given: int
    used: int
    tokens: int
    ms: float
    interrupted: bool


@dataclass(frozen=True, slots=True)
class RecordedItem:
    """An item of a recorded recall.

    Attributes:
        layers: Layers that found it.
        use: How the reply used it.
        strength: How strongly, 0 to 1.
        relevance: How relevant it was thought to be, 0 to 1.
        text: Its words as they stand today; "" if they are gone.
        memory: Row number of its memory, if it is one.
        turns: Row numbers of its turns.
    """

    layers: tuple[str, ...]
    use: str
    strength: float
    relevance: float
    text: str
    memory: int | None
    turns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StoredWeight:
    """A layer's weight as the file holds it, whatever that is, and when it was last changed, UTC."""

    layer: str
    weight: object
    updated_at: datetime | None
