"""Records of an export."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, AwareDatetime, Field

from hotmem.text.validation import validate_id, validate_text
from hotmem.types.quality import QualityRecord
from hotmem.types.recall import Weights
from hotmem.types.sessions import SummarySentence, Turn
from hotmem.types.understanding import EventTime
from hotmem.types.vocabulary import Category, Intent, Kind, Layer

_Offsets = Annotated[
    tuple[Annotated[float, Field(allow_inf_nan=False)], ...],
    Field(min_length=len(Layer), max_length=len(Layer)),
]


@dataclass(frozen=True, slots=True)
class SourceSpan:
    """The character span of a turn that a memory was read from, from `start` to before `stop`."""

    turn_id: str
    start: Annotated[int, Field(ge=0)]
    stop: Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A memory with all its metadata.

    For the other fields see `Statement`, `StoredMemory` and `NewMemory`.

    Attributes:
        words: Spans that it was read from; none if it was stored explicitly.
        subcategory: Name of its subcategory, if it has one.
        superseded_by: Id of the memory that superseded it.
        amends: Id of the memory that it corrects.
        doubted_at: When something said later made it possibly outdated, UTC.
        doubted_by: Id of the memory that did.
        doubted_in: Id of the turn that did, if no memory was read from it.
        merged_into: Id of the memory that it was merged into.
        order_time: Its position in the order of statements, UTC, if that is not `said_at`;
            "told_at" in JSON.
        stored_at: When it was stored explicitly, UTC.
        source: Source of an explicitly stored memory.
        note: The user's note.
        tags: Tags that were given to it, and those of its circumstances.
        found_tags: Other tags, found in its words; one is shown once another memory has it.
        category_percent: Probability of the category in percent, where it was found in speech.
    """

    id: Annotated[str, AfterValidator(lambda given: validate_id(given, "id"))]
    text: Annotated[str, AfterValidator(validate_text)]
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
    doubted_at: AwareDatetime | None = None
    doubted_by: str | None = None
    doubted_in: str | None = None
    merged_into: str | None = None
    confirmations: Annotated[int, Field(ge=0)] = 0
    accesses: Annotated[int, Field(ge=0)] = 0
    accessed_at: AwareDatetime | None = None
    order_time: Annotated[AwareDatetime | None, Field(alias="told_at")] = None
    stored_at: AwareDatetime | None = None
    source: str | None = None
    note: str | None = None
    tags: tuple[str, ...] = ()
    found_tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    words: tuple[SourceSpan, ...] = ()
    subcategory: str | None = None
    category_percent: Annotated[int | None, Field(ge=0, le=100)] = None

    @property
    def links(self) -> dict[str, str]:
        """Ids of related memories, by field name."""
        named = {
            "superseded_by": self.superseded_by,
            "amends": self.amends,
            "doubted_by": self.doubted_by,
            "merged_into": self.merged_into,
        }
        return {name: other for name, other in named.items() if other is not None}


@dataclass(frozen=True, slots=True)
class SummaryRecord:
    """A session's summary, its sentences by part with the turns that they quote."""

    session_id: str
    topics: tuple[str, ...]
    text: str
    sentences: Mapping[str, tuple[SummarySentence, ...]]


@dataclass(frozen=True, slots=True)
class SubcategoryRecord:
    """A subcategory without its memories, whose records name it; see `Subcategory`.

    Attributes:
        name: Its name.
        keywords: Its keywords.
        examples: Ids of its most central memories.
        since: When it first existed, UTC.
        pinned: Whether it stays as it is when the category evolves.
    """

    name: str
    keywords: tuple[str, ...]
    examples: tuple[str, ...]
    since: AwareDatetime
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class EvolutionRecord:
    """The subcategories of a category.

    Attributes:
        category: The category.
        evolved_at: When the category was clustered, UTC.
        memories: Number of memories it had then.
        subcategories: The subcategories.
    """

    category: Category
    evolved_at: AwareDatetime
    memories: int
    subcategories: tuple[SubcategoryRecord, ...]


@dataclass(frozen=True, slots=True)
class ExportedTurn:
    """A turn of an export with what was derived from it.

    Attributes:
        turn: The turn.
        entities: Names in it.
        event_times: Times of the events that it mentions.
        correction_count: Number of corrections of its statements since their last confirmation.
        waiting: Whether its facts were not extracted yet.
        order_time: Its position in the order of statements, UTC, if that is not `spoken_at`.
    """

    turn: Turn
    entities: tuple[str, ...] = ()
    event_times: tuple[EventTime, ...] = ()
    correction_count: int = 0
    waiting: bool = False
    order_time: datetime | None = None


@dataclass(frozen=True, slots=True)
class WeightsRecord(Weights):
    """A user's layer weights.

    Attributes:
        by_intent: What is added to weights / start weights by intent, in the order of `Layer`.
    """

    by_intent: Mapping[Intent, _Offsets] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UserRecord:
    """A record other than a turn, and the user it belongs to."""

    user_id: str
    record: MemoryRecord | SummaryRecord | EvolutionRecord | WeightsRecord | QualityRecord


ImportRecord: TypeAlias = Turn | ExportedTurn | UserRecord
"""A record that an import accepts."""


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The result of an import.

    Attributes:
        turns: Turns added.
        memories: Memories added.
        known: Turns and memories that were stored already.
        sessions: Sessions added.
        forgotten: Records skipped because they were forgotten.
    """

    turns: int
    memories: int
    known: int
    sessions: int
    forgotten: int = 0
