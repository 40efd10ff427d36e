"""What comes out: the context block with its items and its trace, and what a reply made of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from uuid import uuid4

from hotmem.types.recall import START_WEIGHTS, Analysis, Rewrite, Weights
from hotmem.types.vocabulary import EvidenceKind, Layer, LayerOutcome, Mark, UsageKind, Vector


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
        said_at: When it was said, by the clock of who asks.
        valid_until: When it stopped being true, if it did.
        vector: The unit row of the statement it was cut from; None while it has none.
        parts: What the features of each layer add to its logit, in the layers' order; none where
            nothing weighed it.
        times: First and last day, by the clock of who asks, that its words name by where they were
            said ("tomorrow"); of quotes.
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


@dataclass(frozen=True, slots=True)
class LayerReport:
    """One layer's part in a recall: how it ended, how many hits it gave, and its time in ms."""

    layer: Layer
    outcome: LayerOutcome
    hits: int = 0
    ms: float = 0.0


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
        rewrite: What a language model made of the question, if one was asked.
        late: Whether something was left out because it was not ready by the deadline.
        known: How far what was found answers: "known", "possibly related" or "nothing"; None where
            memory was not needed or not ready.
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
    """What the language model is given.

    Attributes:
        text: The block, the one line that nothing is known, or "" where no memory was needed or all
            that is known was visible.
        tokens: Tokens of `text`, never above the budget.
        items: Its items, in the order of the text.
        trace: Why it is what it is.
        id: The block's own id.
        user_id: Whose memory was asked.
        session_id: The session of the question, or None.
        query: The question.
        at: When it was asked, in the zone of who asks.
        visible: Texts the language model had before it besides.
        forget_version: How many times something had been forgotten in the file when it was read; None
            if that is not known. What was forgotten later is not recorded as used.
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
