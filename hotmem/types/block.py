"""Output of a recall: the context block, its items and trace, and their use by the reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from hotmem.types.recall import START_WEIGHTS, Analysis, Rewrite, Weights
from hotmem.types.vocabulary import EvidenceKind, Layer, LayerOutcome, Mark, UsageKind

if TYPE_CHECKING:
    from hotmem.types.arrays import Vector


@dataclass(frozen=True, slots=True)
class Item:
    """One line of the context block.

    Attributes:
        text: The text, verbatim as in the block.
        kind: The kind of evidence.
        layer: The layer that contributed most.
        layers: Every layer that found it.
        relevance: Probability, 0 to 1, that it helps to answer the query.
        confidence: Probability, 0 to 1, that it is true now.
        mark: Relevance and confidence on a scale of three.
        turn_ids: The turns that it quotes or was read from.
        memory_id: Id of the memory that it is, or by which the quote was found; else None.
        session_id: The session of those turns.
        speaker: Who said it, if known.
        said_at: When it was said, in the time zone of the query.
        valid_until: When it stopped being true, if it did.
        vector: Embedding of the untrimmed statement, a unit row; None if it has none yet.
        parts: Contribution of each layer's features to its logit, in the order of `Layer`; zeros
            if it was not scored.
        times: Of a quote, the first and last day that its relative times ("tomorrow") mean, in the
            time zone of the query.
        in_window: Whether it is about the time that the query asks about and nothing else.
        past: Whether it is a plan or a reminder whose time is over.
        reading: Of a quote whose words refer to others, what a memory read from it says.
        hearsay: Whether somebody else says it than the speakers whom the query asks about.
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
    vector: Vector | None = field(default=None, repr=False, compare=False)
    parts: tuple[float, ...] = (0.0,) * len(Layer)
    times: tuple[tuple[date, date], ...] = ()
    in_window: bool = False
    past: bool = False
    reading: str = ""
    hearsay: bool = False


@dataclass(frozen=True, slots=True)
class LayerReport:
    """One layer's part in a recall: its outcome, number of hits, and time in milliseconds."""

    layer: Layer
    outcome: LayerOutcome
    hits: int = 0
    ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Trace:
    """How a block was made.

    Attributes:
        analysis: The query's analysis; None if it missed the deadline.
        layers: One report per layer; none if the analysis missed the deadline.
        stages: Milliseconds of each stage, in order.
        candidates: Number of candidates scored.
        merged: Number of candidates dropped as duplicates.
        weights: The layer weights used.
        reason: The outcome, one sentence.
        rewrite: The language model's rewrite of the query, if one was requested.
        late: Whether anything was left out because it missed the deadline.
        known: Answerability of the query: "known", "possibly related", "hardly related" or
            "nothing"; None if no memory was needed or none was ready.
    """

    analysis: Analysis | None = None
    layers: tuple[LayerReport, ...] = ()
    stages: Mapping[str, float] = field(default_factory=dict)
    candidates: int = 0
    merged: int = 0
    weights: Weights = START_WEIGHTS
    reason: str = ""
    rewrite: Rewrite | None = None
    late: bool = False
    known: str | None = None


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """The context block given to the language model.

    Attributes:
        text: The block; one line if nothing is known; "" if no memory was needed or all relevant
            memories are already in the visible conversation.
        tokens: Tokens of `text`, at most the budget.
        items: Its items, in the order of the text.
        trace: How it was made.
        id: The block's id.
        user_id: The user whose memory was queried.
        session_id: The session of the query, or None.
        query: The query.
        at: When it was asked, in the user's time zone.
        visible: Other texts that the language model could see.
        forget_version: Number of deletions in the file when it was read; None if unknown. Items
            forgotten since are not recorded as used.
    """

    text: str
    tokens: int
    items: tuple[Item, ...]
    trace: Trace
    user_id: str
    session_id: str | None
    query: str
    at: datetime
    visible: tuple[str, ...] = field(default=(), repr=False)
    id: str = field(default_factory=lambda: uuid4().hex)
    forget_version: int | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class ItemUse:
    """How a reply used one item, and how strongly (0 to 1)."""

    item: Item
    kind: UsageKind
    strength: float


@dataclass(frozen=True, slots=True)
class Usage:
    """How a reply used a block.

    Attributes:
        block_id: The block's id.
        uses: One entry per item, in the block's order.
        precision: Items used / items given, 0 to 1; 0 for a block without items.
        interrupted: Whether the reply was cut off, in which case only the part heard counts.
        weights: The layer weights after learning from it.
    """

    block_id: str
    uses: tuple[ItemUse, ...]
    precision: float
    interrupted: bool
    weights: Weights

    @property
    def used(self) -> tuple[ItemUse, ...]:
        """Entries of the items that the reply used."""
        return tuple(use for use in self.uses if use.kind is not UsageKind.UNUSED)
