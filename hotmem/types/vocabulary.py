"""The words of the field as types: who speaks, what is asked, how it is found, how sure it is."""

from enum import IntFlag, StrEnum
from typing import NamedTuple, NewType

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""A unit row of the encoder's dimension."""

SignBits = NDArray[np.uint8]
"""SignBits of a text's word pieces, one bit a dimension, shape (pieces, width / 8)."""


class QueryVectors(NamedTuple):
    """A query's embedding, for vectors of both the encoders that a file may hold while it is embedded anew.

    Attributes:
        vector: By the file's encoder.
        former: By the one before; None where it is not needed, or not available.
    """

    vector: Vector
    former: Vector | None = None


UserKey = NewType("UserKey", int)
"""The store's number for a user; a query carries it so that no search can leave the user's rows."""


class Role(StrEnum):
    """Who spoke a turn."""

    USER = "user"
    ASSISTANT = "assistant"


class Layer(StrEnum):
    """A way of retrieving."""

    __hash__ = str.__hash__

    FACTS = "facts"
    SESSIONS = "sessions"
    SEMANTIC = "semantic"
    VERBATIM = "verbatim"


class Intent(StrEnum):
    """What an utterance is after."""

    FACT = "fact"
    REFERENCE = "reference"
    TIME = "time"
    RELATION = "relation"
    PATTERN = "pattern"
    SUMMARY = "summary"
    INSTRUCTION = "instruction"
    CHITCHAT = "chitchat"


class Complexity(StrEnum):
    """How much an utterance asks of the memory."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Source(StrEnum):
    """Where a piece of evidence comes from; each has a relevance model of its own.

    QUOTE is a passage of a turn, FACT was read from one, STATEMENT was stored outright, SUMMARY is
    of a session.
    """

    __hash__ = str.__hash__

    QUOTE = "quote"
    FACT = "fact"
    STATEMENT = "statement"
    SUMMARY = "summary"


class Mark(StrEnum):
    """How sure HotMem is of an item."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class EvidenceKind(StrEnum):
    """What a piece of evidence is."""

    __hash__ = str.__hash__

    PASSAGE = "passage"
    MEMORY = "memory"
    SUMMARY = "summary"


class AnswerType(IntFlag):
    """What a text is made of. The numbers are kept with every passage: new forms go to the end."""

    NONE = 0
    NAME = 1
    TIME = 2
    NUMBER = 4
    FIRST_PERSON = 8
    QUESTION = 16


class UsageKind(StrEnum):
    """How a reply used an item."""

    QUOTE = "direct quote"
    REFERENCE = "direct reference"
    INFLUENCE = "conceptual influence"
    UNUSED = "unused"


class LayerOutcome(StrEnum):
    """What became of asking a layer."""

    ANSWERED = "answered"
    LATE = "late"
    FAILED = "failed"
    NOT_ASKED = "not asked"


class Kind(StrEnum):
    """What sort of statement a memory is."""

    FACT = "fact"
    PREFERENCE = "preference"
    SKILL = "skill"
    RULE = "rule"
    CONTEXT = "context"
    REMINDER = "reminder"


class Category(StrEnum):
    """Where a memory belongs."""

    CONTEXTS = "contexts"
    PROJECTS = "projects"
    LEARNINGS = "learnings"
    REMINDERS = "reminders"
    REFERENCES = "references"
    INTERACTIONS = "interactions"
    SYSTEM = "system"
