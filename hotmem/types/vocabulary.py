"""Enumerations and elementary types."""

from __future__ import annotations

from enum import IntFlag, StrEnum
from typing import TYPE_CHECKING, NamedTuple, NewType

if TYPE_CHECKING:
    from hotmem.types.arrays import Vector


class QueryVectors(NamedTuple):
    """A query's embeddings by the encoders of the stored vectors.

    While a file is re-embedded, it holds vectors of two encoders.

    Attributes:
        vector: By the file's encoder.
        former: By the former encoder; None if it is not needed or not available.
    """

    vector: Vector
    former: Vector | None = None


UserKey = NewType("UserKey", int)
"""Row number of a user. Every search takes one, so that it is limited to that user's rows."""


class Role(StrEnum):
    """The speaker's role."""

    USER = "user"
    ASSISTANT = "assistant"


class Layer(StrEnum):
    """A retrieval layer."""

    __hash__ = str.__hash__

    FACTS = "facts"
    SESSIONS = "sessions"
    SEMANTIC = "semantic"
    VERBATIM = "verbatim"


class Intent(StrEnum):
    """What an utterance asks for."""

    FACT = "fact"
    REFERENCE = "reference"
    TIME = "time"
    RELATION = "relation"
    PATTERN = "pattern"
    SUMMARY = "summary"
    INSTRUCTION = "instruction"
    FIND = "find"
    REMIND = "remind"
    SIMILAR = "similar"
    CHITCHAT = "chitchat"


class Complexity(StrEnum):
    """How much of the memory a query needs."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Source(StrEnum):
    """The source of a piece of evidence; each has its own relevance model.

    QUOTE is a passage of a turn, FACT a memory read from a turn, STATEMENT a memory stored
    explicitly, SUMMARY a session summary.
    """

    __hash__ = str.__hash__

    QUOTE = "quote"
    FACT = "fact"
    STATEMENT = "statement"
    SUMMARY = "summary"


class Mark(StrEnum):
    """Relevance and confidence of an item on a scale of three."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class EvidenceKind(StrEnum):
    """The kind of a piece of evidence, which tells the table of its row number."""

    __hash__ = str.__hash__

    PASSAGE = "passage"
    MEMORY = "memory"
    SUMMARY = "summary"


class AnswerType(IntFlag):
    """Types of answer that a text may hold. Stored with passages, so values must not change."""

    NONE = 0
    NAME = 1
    TIME = 2
    NUMBER = 4
    FIRST_PERSON = 8
    QUESTION = 16


class DecisionAction(StrEnum):
    """What was decided about memories.

    Attributes:
        READ: Something said is a fact, of a kind and a category.
        FILED: A statement was stored, with its kind and category.
        CONFIRMED: A statement was stored again.
        REPEATED: A fact was said again.
        ENDED: A memory holds no longer.
        DOUBTED: A memory is possibly outdated.
        REFILED: The classification, tags or validity of a memory were changed.
        EDITED: The words of a memory were changed.
        MERGED: Memories that say the same were merged.
        TAGS_CONSOLIDATED: Tags were merged or archived.
        EVOLVED: The subcategories of a category were found again.
        REGROUPED: A person renamed, merged, split or pinned subcategories.
        IMPORTED: Records were imported.
        UNDONE: A decision was undone.
        REDONE: An undoing was taken back.
    """

    READ = "read"
    FILED = "filed"
    CONFIRMED = "confirmed"
    REPEATED = "repeated"
    ENDED = "ended"
    DOUBTED = "doubted"
    REFILED = "refiled"
    EDITED = "edited"
    MERGED = "merged"
    TAGS_CONSOLIDATED = "tags consolidated"
    EVOLVED = "evolved"
    REGROUPED = "regrouped"
    IMPORTED = "imported"
    UNDONE = "undone"
    REDONE = "redone"


class UsageKind(StrEnum):
    """How a reply used an item."""

    QUOTE = "direct quote"
    REFERENCE = "direct reference"
    INFLUENCE = "conceptual influence"
    UNUSED = "unused"


class LayerOutcome(StrEnum):
    """The outcome of querying a layer."""

    ANSWERED = "answered"
    LATE = "late"
    FAILED = "failed"
    NOT_ASKED = "not asked"


class Kind(StrEnum):
    """The kind of statement that a memory is."""

    FACT = "fact"
    PREFERENCE = "preference"
    SKILL = "skill"
    RULE = "rule"
    CONTEXT = "context"
    REMINDER = "reminder"


class Category(StrEnum):
    """The category of a memory."""

    CONTEXTS = "contexts"
    PROJECTS = "projects"
    LEARNINGS = "learnings"
    REMINDERS = "reminders"
    REFERENCES = "references"
    INTERACTIONS = "interactions"
    SYSTEM = "system"
