"""A user's rows as the inspector shows them, one page at a time."""

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
    """A position in an ordered list, stable when rows are inserted (keyset pagination).

    Attributes:
        value: Sort value of the row at the edge of the page.
        key: Row number of that row, which orders rows of equal value.
        back: Whether the rows before it are wanted instead of those after it.
    """

    value: int
    key: int
    back: bool = False

    def __str__(self) -> str:
        return f"{'back' if self.back else 'on'}_{self.value}_{self.key}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the string form of a cursor.

        Raises:
            InvalidInput: If it is not one.
        """
        found = _CURSOR.fullmatch(text)
        if found is None:
            raise InvalidInput(f"{text[:40]!r} is not a page of this list. Open its first page.")
        return cls(int(found[2]), int(found[3]), found[1] == "back")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page of a list, with cursors to the previous and the next page, if there are any."""

    rows: tuple[T, ...]
    previous: Cursor | None = None
    next: Cursor | None = None


@dataclass(frozen=True, slots=True)
class Count:
    """A number of rows; a lower bound if not `exact`."""

    rows: int
    exact: bool = True

    def __str__(self) -> str:
        return f"{self.rows:,}" if self.exact else f"{self.rows:,}+"


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts of what is stored of a user, each up to a bound.

    Attributes:
        turns: Turns.
        sessions: Sessions.
        memories: Memories, ended ones included.
        entities: Names mentioned.
        waiting: Turns whose facts are not extracted yet.
        first_said: When the first turn was spoken, UTC.
        last_said: When the last turn was spoken, UTC.
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
    """A session in a list.

    Attributes:
        key: Its row number.
        id: Its id.
        started_at: When its first turn was spoken, UTC.
        last_at: When its last turn was spoken, UTC.
        turns: Number of its turns.
        topics: The topics of its summary.
        title: The title of its summary, if it has one.
    """

    key: int
    id: str
    started_at: datetime
    last_at: datetime
    turns: Count
    topics: tuple[str, ...]
    title: str | None


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn in a list.

    Attributes:
        key: Its row number.
        id: Its id.
        session: Row number of its session.
        session_id: The session's id.
        role: The speaker's role.
        speaker: The speaker's name, if known.
        text: The text.
        spoken_at: When it was spoken, in the speaker's time zone if known, otherwise in UTC.
        memories: Number of memories read from it.
        waiting: Whether its facts are not extracted yet.
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
    """Conditions on memories; None matches any.

    Attributes:
        now: The current time.
        kind: The kind of statement.
        category: The category.
        holds: True for memories that are valid at `now`, False for the others.
        tag: A tag, which also matches the tags that it replaces.
        keys: Row numbers.
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
        text: The text.
        kind: The kind of statement.
        category: The category.
        importance: 1 to 5.
        said_at: When it was last said, UTC.
        valid_until: When it stopped, or stops, being true, UTC; None for never.
        doubted_at: When something said later made it possibly outdated, UTC, if it did.
        merged: Whether it was merged into another memory.
        noted: Whether it was stored or edited explicitly, not read from turns.
    """

    key: int
    id: str
    text: str
    kind: Kind
    category: Category
    importance: int
    said_at: datetime
    valid_until: datetime | None
    doubted_at: datetime | None
    merged: bool
    noted: bool


@dataclass(frozen=True, slots=True)
class SourceWords:
    """A turn that a memory was read from, and the character span of the source words."""

    turn: TurnRow
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class MemoryDetails:
    """All that is stored about one memory.

    Attributes:
        row: The memory as in a list.
        subcategory: Name of its subcategory, if it has one.
        subject: The person or thing that it is about; "" if unknown.
        relation: The relation.
        object: The value.
        hedged: Whether it was said with doubt.
        negated: Whether it says that something is not so.
        changes: Whether facts of this relation change with time.
        confirmations: Number of times it was repeated.
        accesses: Number of times a search or a reply used it.
        accessed_at: When it was last used, UTC.
        stored_at: When it was stored or edited explicitly, UTC.
        source: Source of an explicitly stored memory.
        note: The user's note.
        tags: Its tags that are shown: given ones, and found ones that another memory has, too.
        entities: Names in it, with their row numbers.
        sources: The latest turns that it was read from.
        replaced_by: The memory that superseded it.
        doubted_by: The memory that made it possibly outdated.
        merged_into: The memory that it was merged into.
        replaces: Memories that it superseded, latest first.
        stands_for: Memories that were merged into it.
        decisions: Decisions about it, latest first: action, reason, time.
    """

    row: MemoryRow
    subcategory: str | None
    subject: str
    relation: str
    object: str
    hedged: bool
    negated: bool
    changes: bool
    confirmations: int
    accesses: int
    accessed_at: datetime | None
    stored_at: datetime | None
    source: str | None
    note: str | None
    tags: tuple[str, ...]
    entities: Mapping[str, int]
    sources: tuple[SourceWords, ...]
    replaced_by: MemoryRow | None
    doubted_by: MemoryRow | None
    merged_into: MemoryRow | None
    replaces: tuple[MemoryRow, ...]
    stands_for: tuple[MemoryRow, ...]
    decisions: tuple[tuple[str, str, datetime], ...]


@dataclass(frozen=True, slots=True)
class EntityRow:
    """A named entity: its row number, its name, and the number of turns and memories with it."""

    key: int
    name: str
    turns: int
    memories: int


@dataclass(frozen=True, slots=True)
class EntityGraph:
    """The most mentioned entities, and the co-occurrence counts of pairs.

    Attributes:
        entities: The entities.
        links: Turns and memories that mention both, by the pair's indices in `entities`.
    """

    entities: tuple[EntityRow, ...]
    links: Mapping[tuple[int, int], int]


@dataclass(frozen=True, slots=True)
class RecallRow:
    """A recorded recall.

    Attributes:
        key: Its row number.
        query: The query.
        session: Row number of its session, if there is one.
        session_id: The session's id, if there is one.
        asked_at: When it was asked, UTC.
        given: Number of items in the block.
        used: Number of items that the reply used.
        tokens: Tokens of the block.
        ms: Duration of the recall in milliseconds.
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
        relevance: Its predicted relevance, 0 to 1.
        text: Its current text; "" if it was removed.
        memory: Row number of the memory, for memories.
        turns: Row numbers of its turns.
    """

    layers: tuple[str, ...]
    use: str
    relevance: float
    text: str
    memory: int | None
    turns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StoredWeight:
    """A layer's weight as stored, unchecked, and when it was last changed, UTC."""

    layer: str
    weight: object
    updated_at: datetime | None
