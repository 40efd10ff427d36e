"""Data of the read path up to the ranking: analysis, query, hits and evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from hotmem.text.languages import ENGLISH
from hotmem.text.stemming import stems
from hotmem.types.vocabulary import (
    Complexity,
    EvidenceKind,
    Intent,
    Layer,
    QueryVectors,
    Role,
    Source,
    UserKey,
)

if TYPE_CHECKING:
    from hotmem.text.phonetics import KnownName
    from hotmem.types.arrays import SignBits, Vector, Vectors


class IndexState(NamedTuple):
    """What decides whether a loaded index is current.

    Attributes:
        last: Row number of the last entry; 0 if there is none.
        revision: Number of changes other than new entries.
        waiting_embedded: Whether the entry asked about as the first without a vector has one now.
        latest_embedded: The same of the last entry without a vector.
        boundary: Row number up to which vectors are of the former encoder; 0 if none are.
    """

    last: int
    revision: int
    waiting_embedded: bool
    latest_embedded: bool
    boundary: int

    @classmethod
    def of(cls, row: tuple[int, int, object, object, int]) -> IndexState:
        """The state from a row of an engine's statement."""
        last, revision, waiting, latest, boundary = row
        return cls(last, revision, bool(waiting), bool(latest), boundary)


@dataclass(frozen=True, slots=True)
class Interval:
    """A half-open interval of time, UTC: `start` is included, `end` is not."""

    start: datetime
    end: datetime


class TimedWords(NamedTuple):
    """A time expression ("tomorrow"), and the interval it meant when it was said."""

    words: str
    interval: Interval


@dataclass(frozen=True, slots=True)
class Analysis:
    """The analysis of an utterance.

    Attributes:
        intent: What it asks for.
        complexity: How much of the memory it needs.
        terms: Its content words, lower case, in order, without duplicates.
        entities: Names in it, as written.
        time: The time it mentions, or None.
        ambiguous: Words that refer outside the utterance ("that", "she", "again").
        expansion: Words from recent turns that those may refer to.
        first_person: Whether it asks about the user ("my", "I").
        needs_memory: False if no memory can help to answer it.
        layers: The layers to query; none if no memory can help.
        question: Whether it is a question, with or without a question mark.
        language: Its language, as `hotmem.text.language_detection.detect_language` returns it.
        subjects: The things and names that it is about, as written, for the line that nothing is
            known about them.
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
    question: bool = True
    language: str = ENGLISH
    subjects: tuple[str, ...] = ()

    def asking(self, layers: tuple[Layer, ...]) -> Self:
        """A copy with other layers to query."""
        return replace(self, layers=layers)


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A language model's rewrite of an utterance.

    Attributes:
        original: The utterance.
        expanded: The rewrite, or the utterance itself.
        rewritten: Whether they differ.
        confidence: The model's confidence, 0 to 1.
        resolved: The references that the model says it resolved.
        turns: Number of recent turns in the prompt.
        reason: The outcome, one sentence.
        ms: Duration in milliseconds.
    """

    original: str
    expanded: str
    rewritten: bool = False
    confidence: float = 0.0
    resolved: tuple[str, ...] = ()
    turns: int = 0
    reason: str = ""
    ms: float = 0.0


DEICTIC: Final = frozenset({"today", "tonight", "tomorrow", "yesterday"})
"""Words for days whose meaning depends on when they are said."""


@dataclass(frozen=True, slots=True)
class Query:
    """An analysed utterance, ready for retrieval.

    Attributes:
        text: The utterance.
        user: The user's row number.
        session_id: The session, or None.
        at: When it was said, in the speaker's time zone.
        analysis: Its analysis.
        speakers: Speaker names of the user's sessions.
        vector: The embedding of the utterance with its expansion.
        pieces: Its token vectors, float32 (tokens, width); no rows if the encoder has none.
        rewrite: The language model's rewrite, if one was requested.
        former: Its embedding by the file's former encoder, while rows have vectors of that.
        former_pieces: Its token vectors by the former encoder; None if that tokenizes differently.
        index_states: The states of the user's search indexes when it was asked.
        index_language: The language by whose rules the user's words are stemmed.
        asker: The speaker who says it, if known.
    """

    text: str
    user: UserKey
    session_id: str | None
    at: datetime
    analysis: Analysis
    speakers: tuple[str, ...]
    vector: Vector
    pieces: Vectors
    rewrite: Rewrite | None = None
    former: Vector | None = None
    former_pieces: Vectors | None = None
    index_states: Mapping[EvidenceKind, IndexState] = field(default_factory=dict)
    index_language: str = ENGLISH
    asker: str | None = None

    @property
    def vectors(self) -> QueryVectors:
        """Its embeddings, to compare with stored vectors."""
        return QueryVectors(self.vector, self.former)

    @property
    def topics(self) -> tuple[str, ...]:
        """Its content words and the words that its references may mean."""
        return (*self.analysis.terms, *self.analysis.expansion)

    @property
    def terms(self) -> tuple[str, ...]:
        """The search terms: its topics without speakers' names, which turns rarely hold, and days.

        A resolved "tomorrow" would match turns that mean another day.
        """
        names = {word for speaker in self.speakers for word in speaker.casefold().split()}
        days = DEICTIC if self.analysis.time else frozenset()
        undated = tuple(term for term in self.topics if term.casefold() not in days)
        return tuple(term for term in undated if term.casefold() not in names) or undated

    @property
    def stems(self) -> frozenset[str]:
        """Stems of the search terms."""
        return stems(" ".join(self.terms), self.index_language)


class Hit(NamedTuple):
    """One candidate from one layer, before fusion.

    A named tuple because a recall creates hundreds, and frozen dataclasses are slower to create.

    Attributes:
        layer: The layer that found it.
        kind: The kind of evidence.
        key: Row number of the evidence.
        score: The layer's score; larger is better, comparable within one layer and kind only.
    """

    layer: Layer
    kind: EvidenceKind
    key: int
    score: float


class Quote(NamedTuple):
    """The passage that a memory was read from: its row number, its words, when they were said."""

    passage: int
    text: str
    said_at: datetime


class Evidence(NamedTuple):
    """A stored passage, memory or summary as the ranking sees it.

    A named tuple because a recall loads hundreds, and frozen dataclasses are slower to create.

    Attributes:
        kind: The kind of evidence.
        key: Its row number.
        text: The text, as it would be shown.
        speaker: The speaker's name, if known.
        role: The speaker's role; None for a summary.
        session_id: Its session.
        session: The session's row number.
        position: Position among the session's passages; -1 for memories and summaries.
        turn_ids: The turns that it quotes or was read from.
        turns: Row numbers of those turns.
        said_at: When it was said, UTC.
        order_time: Its position in the order of statements, UTC; None if that is `said_at`.
        terms: Stems of its words.
        answer_types: Bits of `AnswerType`; 0 for facts and summaries.
        vector: Its embedding; None if it has none yet.
        signs: Token signs, uint8 (tokens, width / 8), of passages and explicitly stored memories;
            None if it has none yet.
        memory_id: The memory's id, for memories.
        hedged: Whether it was said with doubt.
        changes: Whether facts of its relation change with time (a job, not a birthday).
        confirmations: Number of times it was repeated.
        valid_until: When it stopped being true, if it did.
        doubted_at: When something said later made it possibly outdated, if it did.
        replaced_by: Row number of the memory that supersedes it or made it doubtful, if there is
            one.
        after_question: Whether the previous passage is a question by another speaker.
        matches_time: Whether it mentions the time that the query asks about.
        times: Its time expressions, in order; of a memory, those of the words it was read from.
        correction_count: Number of corrections of its turn's statements since their last
            confirmation; of a memory, the least of its turns.
        former: Whether vector and signs are of the file's former encoder.
        reminder: Whether it is a plan or a reminder: a memory of that kind.
        quote: Of a memory, the latest passage that it was read from; None if it was stored
            explicitly or edited, so that it is itself what was said.
        reading: Of a passage whose words refer to others, what a memory read from it says.
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
    terms: frozenset[str]
    vector: Vector | None
    answer_types: int = 0
    signs: SignBits | None = None
    memory_id: str | None = None
    hedged: bool = False
    changes: bool = False
    confirmations: int = 0
    valid_until: datetime | None = None
    doubted_at: datetime | None = None
    replaced_by: int | None = None
    after_question: bool = False
    matches_time: bool = False
    correction_count: int = 0
    times: tuple[TimedWords, ...] = ()
    order_time: datetime | None = None
    former: bool = False
    reminder: bool = False
    quote: Quote | None = None
    reading: str = ""

    def is_past(self, at: datetime) -> bool:
        """Whether it is a plan or a reminder, and every time that it was for is over.

        Times that were over when it was said are not what it is for.
        """
        ahead = [time.end for _, time in self.times if time.end > self.said_at]
        return self.reminder and bool(ahead) and max(ahead) <= at

    @property
    def place(self) -> datetime:
        """Its position in the order of statements, UTC."""
        return self.order_time or self.said_at

    @property
    def source(self) -> Source:
        """Its source; a memory without a turn was stored explicitly."""
        if self.kind is EvidenceKind.PASSAGE:
            return Source.QUOTE
        if self.kind is EvidenceKind.SUMMARY:
            return Source.SUMMARY
        return Source.FACT if self.turns else Source.STATEMENT


@dataclass(frozen=True, slots=True)
class Weights:
    """Layer weights, each from 0.1 to 1.5."""

    facts: float = 1.0
    sessions: float = 0.8
    semantic: float = 0.6
    verbatim: float = 0.4

    def __getitem__(self, layer: Layer) -> float:
        return float(getattr(self, layer.value))

    def as_dict(self) -> dict[Layer, float]:
        """The weights by layer, in the order of `Layer`."""
        return {layer: self[layer] for layer in Layer}

    @classmethod
    def from_dict(cls, weights: Mapping[Layer, float]) -> Self:
        """Create weights from a mapping; layers not in it have their start weight."""
        return cls(**{layer.value: weight for layer, weight in weights.items()})


START_WEIGHTS: Final = Weights()
"""The weights that every user starts with."""

MIN_WEIGHT: Final = 0.1
MAX_WEIGHT: Final = 1.5
"""Bounds of a layer weight."""

IntentOffset = tuple[float, ...]
"""Offsets of the weights / start weights for one intent, in the order of `Layer`."""

NO_OFFSET: Final[IntentOffset] = (0.0,) * len(Layer)


@dataclass(frozen=True, slots=True)
class LearningState:
    """The state of learning a user's layer weights.

    Attributes:
        own: The user's weights.
        intent: Their offset for the intent of the reply being learnt from.
        position_effect: Difference in the logit of use between the last and the first item
            of a block.
        precision: Precision matrix over the layers and the position effect, row by row; empty at
            first.
        good: Weights to roll back to.
        lead: Moving average, in nats, by which `own` predicted use better than `good`.
        version: Number of replies learnt from.
    """

    own: Weights = START_WEIGHTS
    intent: IntentOffset = NO_OFFSET
    position_effect: float = 0.0
    precision: tuple[float, ...] = ()
    good: Weights = START_WEIGHTS
    lead: float = 0.0
    version: int = 0


class WeightSnapshot(NamedTuple):
    """A user's layer weights after one step of learning.

    Attributes:
        version: Number of replies learnt from by then.
        at: When it was, UTC.
        weights: The weights for all intents.
        reason: The reason for the change.
    """

    version: int
    at: datetime
    weights: Weights
    reason: str


@dataclass(frozen=True, slots=True)
class Profile:
    """What the read path loads of a user before retrieval.

    Attributes:
        speakers: Speaker names of the user's sessions.
        owner: The name that the user speaks under, if it was set.
        entities: Stored entities that the utterance names.
        known_names: The speakers and the newest entities, which words of it may sound like.
        weights: The user's layer weights.
        moved: Their offsets by intent.
        forget_version: Number of deletions in the database when it was read.
        encoder: Name and dimension of the database's encoder; None if the user is unknown.
    """

    speakers: tuple[str, ...] = ()
    owner: str | None = None
    entities: tuple[str, ...] = ()
    known_names: tuple[KnownName, ...] = ()
    weights: Weights = START_WEIGHTS
    moved: Mapping[Intent, IntentOffset] = field(default_factory=dict)
    forget_version: int = 0
    encoder: str | None = None
