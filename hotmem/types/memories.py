"""Memories: stored statements, new ones to insert, and decisions about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from hotmem.types.vocabulary import Category, DecisionAction, Kind

if TYPE_CHECKING:
    from hotmem.types.arrays import Vector
    from hotmem.types.understanding import Statement


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A memory as supersession and editing read it from the store.

    Attributes:
        id: The memory's id.
        text: A self-contained sentence.
        subject: The person or thing that it is about.
        relation: The relation.
        object: The value.
        kind: The kind of statement.
        category: The category.
        importance: 1 to 5.
        negated: Whether it says that something is not so.
        changes: Whether facts of this relation change with time.
        single: Whether a new value of the relation supersedes it.
        said_at: When it was last said, UTC.
        order_time: Its position in the order of statements, UTC: later than every earlier
            statement,
            even if the clock was set back in between.
        valid_until: When it stopped being true; None while it is true.
        confirmations: Number of times it was repeated.
        turn_ids: The turns that it was read from.
        doubted_at: When something said later made it possibly outdated, UTC; None if it is not
            in doubt.
        doubted_by: The memory that made it so; None if a turn did that no memory was read from.
        hedged: Whether it was said with doubt.
    """

    id: str
    text: str
    subject: str
    relation: str
    object: str
    kind: Kind
    category: Category
    importance: int
    negated: bool
    changes: bool
    single: bool
    said_at: datetime
    order_time: datetime
    valid_until: datetime | None
    confirmations: int
    turn_ids: tuple[str, ...]
    doubted_at: datetime | None = None
    doubted_by: str | None = None
    hedged: bool = False

    @property
    def current(self) -> bool:
        """Whether nothing has ended it."""
        return self.valid_until is None


@dataclass(frozen=True, slots=True)
class KnownSubjects:
    """The people and things that a user's current facts are about.

    Attributes:
        subjects: Subjects of facts.
        names: Subject, name, and whether the name was said to be the only one, of each fact that
            names its subject.
        possessions: Owner and value of each fact that states a possession.
    """

    subjects: tuple[str, ...] = ()
    names: tuple[tuple[str, str, bool], ...] = ()
    possessions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory to insert as written, with its classification.

    Attributes:
        text: The text.
        kind: The kind of statement.
        category: The category.
        importance: 1 to 5.
        tags: Tags that are given to it, and those of its circumstances; shown from now on.
        found_tags: Tags found in its text; each is shown once another memory has it.
        tag_vectors: The embeddings of new tags, by tag.
        tag_replacements: Existing tags to use instead of new ones, by the new tag.
        entities: Names in it.
        expires_at: When it stops being true, UTC; None for never.
        source: Where it comes from, if given.
        note: The user's note, if given.
        states: The facts that it states.
    """

    text: str
    kind: Kind
    category: Category
    importance: int
    tags: tuple[str, ...] = ()
    found_tags: tuple[str, ...] = ()
    tag_vectors: Mapping[str, Vector] = field(default_factory=dict)
    tag_replacements: Mapping[str, str] = field(default_factory=dict)
    entities: tuple[str, ...] = ()
    expires_at: datetime | None = None
    source: str | None = None
    note: str | None = None
    states: tuple[Statement, ...] = ()

    @property
    def fact(self) -> Statement | None:
        """The one fact that it states in all of its words, if it states one."""
        only = self.states[0] if len(self.states) == 1 and self.kind is not Kind.RULE else None
        whole = only is not None and len(only.text.split()) >= len(self.text.split())
        return only if whole else None


@dataclass(frozen=True, slots=True)
class RevisedMemory:
    """What a new memory did to a stored one.

    Attributes:
        id: The stored memory's id.
        text: Its text.
        said_at: When it was last said or stored, UTC.
        ended: Whether it ended; otherwise it is possibly outdated.
        decision: Id of the decision, which can be undone.
    """

    id: str
    text: str
    said_at: datetime
    ended: bool
    decision: str


@dataclass(frozen=True, slots=True)
class InsertedMemory:
    """A memory that was inserted: its id, and the stored memories that it ended or put in doubt."""

    id: str
    revised: tuple[RevisedMemory, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryMetadata:
    """What a search result shows of a memory besides its text.

    Attributes:
        kind: The kind of statement.
        category: The category.
        importance: 1 to 5.
        created: When it was stored or last said, UTC.
        accesses: Number of times it was returned.
        accessed_at: When it was last returned, UTC, if ever.
        subcategory: Name of its subcategory, if it has one.
    """

    kind: Kind
    category: Category
    importance: int
    created: datetime
    accesses: int
    accessed_at: datetime | None
    subcategory: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """A value of a memory before and after a decision.

    Attributes:
        memory_id: The memory.
        field: Name of the value, such as "category", "tags" or "valid_until".
        before: The former value as text; None if there was none.
        after: The new value.
    """

    memory_id: str
    field: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision about memories.

    Attributes:
        id: The decision's id; that a fact was read from a turn has the id of its memory.
        action: What was decided.
        reason: The reason, one sentence.
        decided_at: When it was made, UTC.
        undone_at: When it was undone, UTC, if it was.
        memory_ids: The memories.
        into: The memory that they were merged into, that has the edited text, or that ended them
            or made them doubtful, if there is one.
        changes: What it changed, if that was recorded with it.
        undoes: Id of the decision that it undid, or of the undoing that it took back.
    """

    id: str
    action: DecisionAction
    reason: str
    decided_at: datetime
    undone_at: datetime | None
    memory_ids: tuple[str, ...]
    into: str | None
    changes: tuple[MemoryChange, ...] = ()
    undoes: str | None = None


@dataclass(frozen=True, slots=True)
class UndoResult:
    """The result of undoing a decision.

    Attributes:
        restored: Memories, tags and subcategories restored.
        removed: Turns and memories of an import removed; 1 for a memory that is withdrawn.
        decision: Id of the undoing, which is a decision too.
    """

    restored: int
    removed: int = 0
    decision: str = ""


@dataclass(frozen=True, slots=True)
class Supersession:
    """The effect of a new statement on stored memories of the same subject.

    Attributes:
        confirms: The memory that it repeats, if any.
        ends: Memories that it ends.
        doubts: Memories that it makes possibly outdated.
        ended_by: The memory of a later statement, stored already, that ends the new one.
        doubted_by: The memory of one that makes it possibly outdated.
        reason: Why memories end or are in doubt, one sentence without words of theirs.
    """

    confirms: str | None = None
    ends: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    ended_by: str | None = None
    doubted_by: str | None = None
    reason: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Revision:
    """The effect of a turn, by its own words, on stored memories.

    Attributes:
        ends: Memories that it ends.
        doubts: Memories that it makes possibly outdated.
        reason: Why, one sentence without words of theirs.
    """

    ends: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    reason: str = ""
