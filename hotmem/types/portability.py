"""What an export holds of a memory, whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, AwareDatetime, Field

from hotmem.text.validation import checked_id, checked_text
from hotmem.types.quality import QualityRecord
from hotmem.types.recall import Weights
from hotmem.types.remember import EventTime, SummarySentence, Turn
from hotmem.types.vocabulary import Category, Kind


@dataclass(frozen=True, slots=True)
class SourceSpan:
    """Where in a turn a memory was read: characters from `start`, up to before `stop`."""

    turn_id: str
    start: Annotated[int, Field(ge=0)]
    stop: Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A memory with all its standing.

    See `Statement`, `StoredMemory` and `Note` for what the fields mean.

    Attributes:
        words: Where it was read; none for one that was stored outright.
        subcategory: The name of its place in its category, if that has evolved.
        superseded_by: Id of the memory that took its place.
        amends: Id of the memory that it corrects.
        merged_into: Id of the memory that stands for it.
        told_at: Its place in the order of what was told, if that is not when it was said, UTC.
        noted_at: When it was stored outright, UTC.
        origin: Where one that was stored comes from.
        remark: The user's remark about it.
    """

    id: Annotated[str, AfterValidator(lambda given: checked_id(given, "id"))]
    text: Annotated[str, AfterValidator(checked_text)]
    subject: str
    relation: str
    object: str
    kind: Kind
    category: Category
    importance: Annotated[int, Field(ge=1, le=5)]
    hedged: bool
    negated: bool
    changes: bool
    single: bool
    said_at: AwareDatetime
    valid_until: AwareDatetime | None = None
    superseded_by: str | None = None
    amends: str | None = None
    merged_into: str | None = None
    confirmations: Annotated[int, Field(ge=0)] = 0
    accesses: Annotated[int, Field(ge=0)] = 0
    accessed_at: AwareDatetime | None = None
    told_at: AwareDatetime | None = None
    noted_at: AwareDatetime | None = None
    origin: str | None = None
    remark: str | None = None
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    words: tuple[SourceSpan, ...] = ()
    subcategory: str | None = None

    @property
    def links(self) -> dict[str, str]:
        """The ids of other memories, by what they are to this one."""
        named = {
            "superseded_by": self.superseded_by,
            "amends": self.amends,
            "merged_into": self.merged_into,
        }
        return {name: other for name, other in named.items() if other is not None}


@dataclass(frozen=True, slots=True)
class SummaryRecord:
    """A session's summary with the turns its sentences come from, by part."""

    session_id: str
    topics: tuple[str, ...]
    text: str
    sentences: Mapping[str, tuple[SummarySentence, ...]]


@dataclass(frozen=True, slots=True)
class SubcategoryRecord:
    """A subcategory without its memories, which name it; see `Subcategory`.

    Attributes:
        examples: Ids of the memories that stand for it best.
    """

    name: str
    keywords: tuple[str, ...]
    examples: tuple[str, ...]
    since: AwareDatetime


@dataclass(frozen=True, slots=True)
class EvolutionRecord:
    """The subcategories of a category.

    Attributes:
        category: The category.
        evolved_at: When they were found, UTC.
        memories: How many memories it held then.
        subcategories: The subcategories.
    """

    category: Category
    evolved_at: AwareDatetime
    memories: int
    subcategories: tuple[SubcategoryRecord, ...]


@dataclass(frozen=True, slots=True)
class ExportedTurn:
    """A turn of an export and what was known of it.

    Attributes:
        turn: The turn.
        entities: Names in it.
        happenings: When what it tells of happened.
        doubts: How often what it says was corrected and not confirmed since.
        waiting: Whether it still waited to be understood.
        told_at: Its place in the order of what was told, if that is not when it was said.
    """

    turn: Turn
    entities: tuple[str, ...] = ()
    happenings: tuple[EventTime, ...] = ()
    doubts: int = 0
    waiting: bool = False
    told_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class UserRecord:
    """A record of a user."""

    user_id: str
    record: MemoryRecord | SummaryRecord | EvolutionRecord | Weights | QualityRecord


ImportRecord: TypeAlias = Turn | ExportedTurn | UserRecord
"""What an import takes in."""


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What an import brought.

    Turns and memories that were not there, those that were, sessions, and what stays out as it was
    forgotten.
    """

    turns: int
    memories: int
    known: int
    sessions: int
    forgotten: int = 0
