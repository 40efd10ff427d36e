"""The data of the read path up to the ranking: an utterance, its analysis, what the layers find."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hotmem.text.stemming import stems
from hotmem.types.vocabulary import (
    Complexity,
    EvidenceKind,
    Intent,
    Layer,
    QueryVectors,
    Role,
    SignBits,
    Source,
    UserKey,
    Vector,
)


@dataclass(frozen=True, slots=True)
class Interval:
    """A span of time in UTC: `start` belongs to it, `end` does not."""

    start: datetime
    end: datetime


class TimedWords(NamedTuple):
    """Words that name a time ("tomorrow"), and the interval they meant when they were said."""

    words: str
    interval: Interval


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
        question: Whether it asks something, with or without a question mark.
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

    def asking(self, layers: tuple[Layer, ...]) -> Self:
        """The same analysis with other layers to ask."""
        return replace(self, layers=layers)


@dataclass(frozen=True, slots=True)
class Rewrite:
    """What a language model made of an utterance.

    Attributes:
        original: The utterance.
        expanded: What it means, or the utterance itself.
        rewritten: Whether they differ.
        confidence: The model's, 0 to 1.
        resolved: What it says it resolved.
        turns: Turns it was shown.
        reason: The outcome in a sentence.
        ms: Milliseconds it took.
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
"""Words for days that mean another one each time they are said."""


@dataclass(frozen=True, slots=True)
class Query:
    """An analysed utterance, ready for the layers.

    Attributes:
        text: The utterance.
        user: The user's number in the store.
        session_id: The session it was said in, or None.
        at: When it was said, in the speaker's zone.
        analysis: What it is after.
        speakers: Names of those who spoke in the user's sessions.
        vector: Its embedding, that of its expansion with it.
        pieces: States of its word pieces, float32 (pieces, width); none where the encoder tells
            none.
        rewrite: What a language model made of it, if one was asked.
        former: Its embedding by the file's former encoder, while some rows have vectors of that.
        former_pieces: States of its word pieces by that; None if that reads other pieces.
    """

    text: str
    user: UserKey
    session_id: str | None
    at: datetime
    analysis: Analysis
    speakers: tuple[str, ...]
    vector: Vector
    pieces: NDArray[np.float32]
    rewrite: Rewrite | None = None
    former: Vector | None = None
    former_pieces: NDArray[np.float32] | None = None

    @property
    def sought(self) -> QueryVectors:
        """What stored vectors are compared with."""
        return QueryVectors(self.vector, self.former)

    @property
    def topics(self) -> tuple[str, ...]:
        """What it is about: its content words and what its pointing words may stand for."""
        return (*self.analysis.terms, *self.analysis.expansion)

    @property
    def terms(self) -> tuple[str, ...]:
        """The words to search for: its topics without the speakers' names.

        A speaker's turns hardly name the speaker, the other one's do; who spoke is weighed apart. A
        day that is resolved is not searched for by its word: "tomorrow" was said of another day.
        """
        names = {word for speaker in self.speakers for word in speaker.casefold().split()}
        undated = tuple(
            term
            for term in self.topics
            if self.analysis.time is None or term.casefold() not in DEICTIC
        )
        return tuple(term for term in undated if term.casefold() not in names) or undated

    @property
    def stems(self) -> frozenset[str]:
        """Stems of the words to search for."""
        return stems(" ".join(self.terms))


class Hit(NamedTuple):
    """One candidate from one layer, before fusion.

    A recall has some three hundred; a frozen dataclass takes four times as long to make.

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


class Evidence(NamedTuple):
    """A stored statement as the ranking sees it: a passage of a turn, a memory or a summary.

    A named tuple, as a recall loads two hundred: a frozen dataclass of so many fields takes 7 µs to
    make, five times as long.

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
        told_at: Its place in the order of what was told; None is when it was said.
        terms: The stems of its words.
        answer_types: What it is made of, as the bits of `AnswerType`; none of a fact or a summary.
        vector: Its embedding, or None while that is still being made.
        signs: Token signs, uint8 (tokens, width / 8), of passages and of memories stored outright;
            None while they are being made.
        memory_id: The memory's id, for memories.
        hedged: Whether it was said with doubt.
        changes: Whether it is of a sort that changes with time (a job, not a birthday).
        confirmations: How often it was said again.
        valid_until: When it stopped being true, if it did.
        replaced_by: Row number of the memory that holds in its place now, if there is one.
        after_question: Whether the passage before it, by another speaker, asks something.
        matches_time: Whether its words tell of the time asked about.
        times: The times that it names, in order; of a memory, those of the words it was read from.
        doubts: How often what its turn says was corrected and not confirmed since; of a memory, its
            least doubted turn's.
        former: Whether vector and signs are of the file's former encoder.
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
    replaced_by: int | None = None
    after_question: bool = False
    matches_time: bool = False
    doubts: int = 0
    times: tuple[TimedWords, ...] = ()
    told_at: datetime | None = None
    former: bool = False

    @property
    def place(self) -> datetime:
        """What it is told before and after by."""
        return self.told_at or self.said_at

    @property
    def source(self) -> Source:
        """Where it comes from; a memory without a turn was stored outright."""
        if self.kind is EvidenceKind.PASSAGE:
            return Source.QUOTE
        if self.kind is EvidenceKind.SUMMARY:
            return Source.SUMMARY
        return Source.FACT if self.turns else Source.STATEMENT


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

MIN_WEIGHT: Final = 0.1
MAX_WEIGHT: Final = 1.5
"""Bounds of a weight (the design's)."""

IntentOffset = tuple[float, ...]
"""How far weights are moved, over their start weights; one number a layer, in the layers' order."""

NO_OFFSET: Final[IntentOffset] = (0.0,) * len(Layer)


@dataclass(frozen=True, slots=True)
class LearningState:
    """What is learnt of a user's layer weights, to be kept and taken up again.

    Attributes:
        shared: Where users begin, which follows what all of them teach.
        own: The user's weights.
        intent: How far they are moved for the intent at hand.
        place: What the last place of a block adds to an item's logit of being used, beside the
            first.
        seen: What was seen so far, as a precision matrix over the layers and the place, row by row;
            none at the beginning.
        good: The weights to go back to.
        lead: Mean nats by which `own` foretold the use better than they did lately.
        version: Replies learnt from.
    """

    shared: Weights = START_WEIGHTS
    own: Weights = START_WEIGHTS
    intent: IntentOffset = NO_OFFSET
    place: float = 0.0
    seen: tuple[float, ...] = ()
    good: Weights = START_WEIGHTS
    lead: float = 0.0
    version: int = 0


class WeightSnapshot(NamedTuple):
    """A user's layer weights after one step of learning.

    Attributes:
        version: Replies learnt from by then.
        at: When it was, by the clock of the machine, UTC.
        weights: The weights for all intents.
        reason: What moved them.
    """

    version: int
    at: datetime
    weights: Weights
    reason: str


@dataclass(frozen=True, slots=True)
class Profile:
    """What the read path knows of a user before it looks.

    Attributes:
        speakers: Names of those who spoke in the user's sessions.
        entities: Known entities that the utterance names.
        similar_names: Known entities that sound like a capitalised word of it.
        weights: The user's layer weights.
        moved: How far they are moved for an intent.
        forget_version: How many times something was forgotten in the file before it was read.
        encoder: Name and dimension of the file's encoder; None if nothing is known of the user.
    """

    speakers: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    similar_names: tuple[str, ...] = ()
    weights: Weights = START_WEIGHTS
    moved: Mapping[Intent, IntentOffset] = field(default_factory=dict)
    forget_version: int = 0
    encoder: str | None = None
