"""The data between the stages, in the order of the path. Everything here is immutable.

Turn → Understanding → SessionSummary                                       (write path)
utterance → Analysis → Query → Hit → Evidence → Item → ContextBlock         (read path)
reply → Usage → Weights                                                     (feedback path)
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final, NewType, Self
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from hotmem.errors import InvalidInput
from hotmem.text import checked_id, checked_text

Vector = NDArray[np.float32]
"""A unit row of the encoder's dimension."""

UserKey = NewType("UserKey", int)
"""The store's number for a user; a query carries it so that no search can leave the user's rows."""


class Role(StrEnum):
    """Who spoke a turn."""

    USER = "user"
    ASSISTANT = "assistant"


class Layer(StrEnum):
    """A way of retrieving."""

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


class Mark(StrEnum):
    """How sure HotMem is of an item."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class EvidenceKind(StrEnum):
    """What a piece of evidence is."""

    PASSAGE = "passage"
    MEMORY = "memory"
    SUMMARY = "summary"


class UsageKind(StrEnum):
    """How a reply used an item."""

    QUOTE = "direct quote"
    REFERENCE = "direct reference"
    INFLUENCE = "conceptual influence"
    UNUSED = "unused"


def aware(moment: datetime, name: str) -> datetime:
    """The moment in UTC.

    Raises:
        InvalidInput: If it is not a datetime, carries no time zone or lies outside the years that UTC can express.
    """
    if not isinstance(moment, datetime):
        raise InvalidInput(f"{name} is {type(moment).__name__}, not a datetime. Pass datetime.now(timezone.utc).")
    if moment.utcoffset() is None:
        raise InvalidInput(f"{name} has no time zone. Pass datetime.now(timezone.utc) or add tzinfo.")
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise InvalidInput(f"{name} lies outside the years 1 to 9999 in UTC. Pass a time within them.") from error


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance of one speaker, word for word.

    Attributes:
        user_id: Whose memory it belongs to.
        session_id: The conversation it was said in.
        role: "user" or "assistant".
        text: The words, cleaned of what cannot be stored.
        spoken_at: When it was said, in UTC. History may be added in any order.
        speaker: The speaker's name, if known.
        id: The caller's id; remembering the same id again changes nothing.

    Raises:
        InvalidInput: If a field cannot be used.
    """

    user_id: str
    session_id: str
    role: Role | str
    text: str
    spoken_at: datetime
    speaker: str | None = None
    id: str = field(default_factory=lambda: uuid4().hex)

    def __post_init__(self) -> None:
        if self.role not in tuple(Role):
            raise InvalidInput(f"role is {self.role!r}. Use one of: {', '.join(Role)}.")
        for name in ("user_id", "session_id", "id"):
            checked_id(getattr(self, name), name)
        if self.speaker is not None:
            object.__setattr__(self, "speaker", checked_id(self.speaker, "speaker"))
        object.__setattr__(self, "role", Role(self.role))
        object.__setattr__(self, "text", checked_text(self.text))
        object.__setattr__(self, "spoken_at", aware(self.spoken_at, "spoken_at"))


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


@dataclass(frozen=True, slots=True)
class Statement:
    """One fact read from a turn, with the words it came from.

    Attributes:
        text: A whole sentence that stands alone: "Ana's dog is called Potola."
        subject: Whom or what it is about: "Ana", "Ana's dog".
        relation: One of the bounded set of relations: "is called", "lives in".
        object: The value, as said.
        kind: What sort of statement it is.
        category: Where it belongs.
        importance: 1 (passing) to 5 (must not be forgotten).
        start: First character of its words in the turn.
        stop: One past the last character of its words in the turn.
        entities: Names in it, as written.
        hedged: Said with doubt ("maybe", "I think").
        negated: Says that something is not, or no longer, so.
        changes: Of a sort that changes with time.
        single: The relation takes one value at a time, so a new value supersedes.
    """

    text: str
    subject: str
    relation: str
    object: str
    kind: Kind
    category: Category
    importance: int
    start: int
    stop: int
    entities: tuple[str, ...] = ()
    hedged: bool = False
    negated: bool = False
    changes: bool = False
    single: bool = False


@dataclass(frozen=True, slots=True)
class Correction:
    """A speaker's "No, I said `right`, not `wrong`", with its place in the turn.

    Attributes:
        wrong: The value taken back, or "" where it is not named: then the last one-valued fact of `relation` is meant.
        right: The value that holds; a day is given as its date.
        start: First character of its words in the turn.
        stop: One past the last character of its words in the turn.
        relation: The relation the value belongs to, or "" where the words do not tell.
    """

    wrong: str
    right: str
    start: int
    stop: int
    relation: str = ""


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A statement that the memory holds, with its standing.

    Attributes:
        id: The memory's id.
        text: A whole sentence.
        subject: Whom or what it is about.
        relation: What is said of it.
        object: The value.
        kind: What sort of statement it is.
        category: Where it belongs.
        importance: 1 to 5.
        negated: Whether it says that something is not so.
        single: Whether a new value of its relation replaces it.
        said_at: When it was last said, UTC.
        valid_until: When it stopped being true; None while it holds.
        confirmations: How often it was said again.
        turn_ids: The turns it comes from.
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
    single: bool
    said_at: datetime
    valid_until: datetime | None
    confirmations: int
    turn_ids: tuple[str, ...]

    @property
    def current(self) -> bool:
        """Whether it still holds."""
        return self.valid_until is None


@dataclass(frozen=True, slots=True)
class Revision:
    """What a new statement does to the memories that are about the same thing.

    Attributes:
        confirms: The memory that it says again, or None.
        ends: Memories that stop, or by what is known now stopped, being true with it.
        valid_until: When the statement itself stopped being true, if a later one is known already.
    """

    confirms: str | None = None
    ends: tuple[str, ...] = ()
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Understanding:
    """What the language analysis read in one turn."""

    statements: tuple[Statement, ...] = ()
    corrections: tuple[Correction, ...] = ()
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SummarySentence:
    """One sentence of a summary and the turn it comes from."""

    text: str
    turn_id: str


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """What a session was about, in its speakers' own words.

    Attributes:
        topics: Its themes, most telling first.
        narrative: The sentences that carry it, in order.
        decisions: What was decided.
        open_loops: What was left to do or to find out.
    """

    topics: tuple[str, ...] = ()
    narrative: tuple[SummarySentence, ...] = ()
    decisions: tuple[SummarySentence, ...] = ()
    open_loops: tuple[SummarySentence, ...] = ()


@dataclass(frozen=True, slots=True)
class Interval:
    """A span of time in UTC: `start` belongs to it, `end` does not."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Analysis:
    """What an utterance is after.

    Attributes:
        intent: What it asks for.
        complexity: How much of the memory it needs.
        terms: Its content words, lower case, in order, once each.
        entities: Names in it, as written.
        time: The time it speaks of, or None.
        ambiguous: Words in it that point elsewhere ("that", "she", "again").
        expansion: Words from the recent turns that those may stand for.
        first_person: Whether it asks about the user ("my", "I").
        needs_memory: False for utterances that no memory can help.
        layers: The layers worth asking.
    """

    intent: Intent
    complexity: Complexity
    terms: tuple[str, ...]
    entities: tuple[str, ...]
    time: Interval | None
    ambiguous: tuple[str, ...]
    expansion: tuple[str, ...]
    first_person: bool
    needs_memory: bool
    layers: tuple[Layer, ...]

    def asking(self, layers: tuple[Layer, ...]) -> Self:
        """The same analysis with other layers to ask."""
        return replace(self, layers=layers)


@dataclass(frozen=True, slots=True)
class Query:
    """An analysed utterance, ready for the layers.

    Attributes:
        text: The utterance.
        user: The user's number in the store.
        session_id: The session it was said in, or None.
        at: When it was said, UTC.
        analysis: What it is after.
        speakers: Names of those who spoke in the user's sessions.
        vector: Its embedding, that of its expansion with it.
    """

    text: str
    user: UserKey
    session_id: str | None
    at: datetime
    analysis: Analysis
    speakers: tuple[str, ...]
    vector: Vector

    @property
    def topics(self) -> tuple[str, ...]:
        """What it is about: its content words and what its pointing words may stand for."""
        return (*self.analysis.terms, *self.analysis.expansion)

    @property
    def terms(self) -> tuple[str, ...]:
        """The words to search for: its topics without the speakers' names.

        A speaker's turns hardly name the speaker, the other one's do; who spoke is weighed apart.
        """
        names = {word for speaker in self.speakers for word in speaker.casefold().split()}
        return tuple(term for term in self.topics if term.casefold() not in names) or self.topics


@dataclass(frozen=True, slots=True)
class Hit:
    """One candidate from one layer, before fusion.

    Attributes:
        layer: Who found it.
        kind: Which table `key` belongs to.
        key: Row number of the evidence.
        score: The layer's own score; larger is better, comparable within one layer and kind only.
    """

    layer: Layer
    kind: EvidenceKind
    key: int
    score: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """A stored statement as the ranking sees it: a passage of a turn, a memory or a summary.

    Attributes:
        kind: What it is.
        key: Its row number.
        text: The words, as they would be shown.
        speaker: Who said it, if known.
        role: The speaker's role; None for a summary.
        session_id: The session it belongs to.
        session: The session's row number.
        position: Place among the session's passages; -1 for memories and summaries.
        turn_ids: The turns it comes from.
        turns: Row numbers of those turns.
        said_at: When it was said, UTC.
        vector: Its embedding, or None while that is still being made.
        memory_id: The memory's id, for memories.
        hedged: Whether it was said with doubt.
        changes: Whether it is of a sort that changes with time (a job, not a birthday).
        confirmations: How often it was said again.
        valid_until: When it stopped being true, if it did.
        after_question: Whether the passage before it, by another speaker, asks something.
    """

    kind: EvidenceKind
    key: int
    text: str
    speaker: str | None
    role: Role | None
    session_id: str
    session: int
    position: int
    turn_ids: tuple[str, ...]
    turns: tuple[int, ...]
    said_at: datetime
    vector: Vector | None
    memory_id: str | None = None
    hedged: bool = False
    changes: bool = False
    confirmations: int = 0
    valid_until: datetime | None = None
    after_question: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """One line of the context block.

    Attributes:
        text: The words; they stand literally in the block's text.
        kind: What it is.
        layer: The layer that counted most in finding it.
        layers: Every layer that found it.
        relevance: Probability, 0 to 1, that it helps with this query.
        confidence: Probability, 0 to 1, that it can be trusted now.
        mark: Both in one word.
        turn_ids: The turns whose words it holds.
        memory_id: The memory's id, for memories.
        session_id: The session it was said in.
        speaker: Who said it, if known.
        said_at: When it was said, UTC.
        valid_until: When it stopped being true, if it did.
    """

    text: str
    kind: EvidenceKind
    layer: Layer
    layers: tuple[Layer, ...]
    relevance: float
    confidence: float
    mark: Mark
    turn_ids: tuple[str, ...]
    memory_id: str | None
    session_id: str
    speaker: str | None
    said_at: datetime
    valid_until: datetime | None = None


class LayerOutcome(StrEnum):
    """What became of asking a layer."""

    ANSWERED = "answered"
    LATE = "late"
    FAILED = "failed"
    NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True)
class LayerReport:
    """One layer's part in a recall: how it ended, how many hits it gave, and its time in ms."""

    layer: Layer
    outcome: LayerOutcome
    hits: int = 0
    ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each layer's evidence counts, each from 0.1 to 1.5."""

    facts: float = 1.0
    sessions: float = 0.8
    semantic: float = 0.6
    verbatim: float = 0.4

    def __getitem__(self, layer: Layer) -> float:
        return float(getattr(self, layer.value))

    def as_dict(self) -> dict[Layer, float]:
        """The weights by layer, in the layers' order."""
        return {layer: self[layer] for layer in Layer}

    @classmethod
    def from_dict(cls, weights: Mapping[Layer, float]) -> Self:
        """Weights of every layer named; the others keep their start."""
        return cls(**{layer.value: weight for layer, weight in weights.items()})


START_WEIGHTS: Final = Weights()
"""Where every user begins."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What the read path knows of a user before it looks.

    Attributes:
        speakers: Names of those who spoke in the user's sessions.
        entities: Known entities that the utterance names.
        weights: The user's layer weights.
    """

    speakers: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    weights: Weights = START_WEIGHTS


@dataclass(frozen=True, slots=True)
class Trace:
    """Why a block is what it is.

    Attributes:
        analysis: What the query was taken to ask; None if the analysis itself was late.
        layers: One report a layer; none if the analysis was late.
        stages: Milliseconds of each stage, in order.
        candidates: Pieces of evidence weighed.
        merged: Pieces that said the same as a better one.
        weights: The layer weights used.
        reason: One sentence on the outcome.
    """

    analysis: Analysis | None = None
    layers: tuple[LayerReport, ...] = ()
    stages: Mapping[str, float] = field(default_factory=dict)
    candidates: int = 0
    merged: int = 0
    weights: Weights = START_WEIGHTS
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """What the language model is given.

    Attributes:
        text: The block, the one line that nothing is known, or "" where no memory was needed.
        tokens: Tokens of `text`, never above the budget.
        items: Its items, in the order of the text.
        trace: Why it is what it is.
        id: The block's own id.
        user_id: Whose memory was asked.
        session_id: The session of the question, or None.
        query: The question.
        at: When it was asked, UTC.
    """

    text: str
    tokens: int
    items: tuple[Item, ...]
    trace: Trace
    user_id: str
    session_id: str | None
    query: str
    at: datetime
    id: str = field(default_factory=lambda: uuid4().hex)


@dataclass(frozen=True, slots=True)
class ItemUse:
    """What a reply made of one item, and how strongly (0 to 1)."""

    item: Item
    kind: UsageKind
    strength: float


@dataclass(frozen=True, slots=True)
class Usage:
    """What a reply made of a block.

    Attributes:
        block_id: The block.
        uses: One entry per item, in the block's order.
        precision: Items used / items given, 0 to 1; 0 for a block without items.
        interrupted: Whether the reply was cut off; only what was heard was counted.
        weights: The layer weights after learning from it.
    """

    block_id: str
    uses: tuple[ItemUse, ...]
    precision: float
    interrupted: bool
    weights: Weights

    @property
    def used(self) -> tuple[ItemUse, ...]:
        """The entries of items that were used."""
        return tuple(use for use in self.uses if use.kind is not UsageKind.UNUSED)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How much a `forget` removed."""

    turns: int
    memories: int
    sessions: int
