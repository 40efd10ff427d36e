"""Options of each stage, passed in and never read from the environment here.

`hotmem.settings` fills them from HOTMEM_ variables where a memory is opened without any; everything
inside the package receives them as arguments. A number out of its bounds raises `InvalidInput`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import MISSING, dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Final

from pydantic import ConfigDict

from hotmem.core.encryption_key import KeySource
from hotmem.core.validation import Bounded, bounded
from hotmem.errors import InvalidInput
from hotmem.text.timezones import now_here
from hotmem.types import MAX_WEIGHT, MIN_WEIGHT, Category, Layer, Weights

LEAST_TOKENS: Final = 1


@dataclass(frozen=True, slots=True)
class RecallOptions(Bounded):
    """How a block is made.

    Attributes:
        max_tokens: Tokens of a block at most.
        deadline_ms: Milliseconds after which a block holds what is ready by then. None waits for
            all.
        max_facts: Facts in a block at most.
        semantic_threshold: Least calibrated relevance, 0 to 1, of any item, whichever layer found
            it.
        verbatim_window: Characters of the turn shown on each side of a passage, 0 to 1000.
        symbols: Marks as coloured circles instead of words.
        layers: The layers there are.
        choose_layers: Whether the analysis chooses among them; otherwise all are asked.
        say_unknown: Whether a block says of a question that nothing, or nothing certain, is known.
        opening_tokens: Tokens at most of what is given without being asked: who the user is,
            standing instructions, what is at hand and what was left open. 0 gives none.
    """

    max_tokens: int = bounded(1000, LEAST_TOKENS, whole=True)
    deadline_ms: float | None = bounded(None, 0)
    max_facts: int = bounded(5, 0, whole=True)
    semantic_threshold: float = bounded(0.0, 0, 1)
    verbatim_window: int = bounded(0, 0, 1000, whole=True)
    symbols: bool = False
    layers: tuple[Layer, ...] = tuple(Layer)
    choose_layers: bool = True
    say_unknown: bool = True
    opening_tokens: int = bounded(200, 0, whole=True)


@dataclass(frozen=True, slots=True)
class LearningOptions:
    """How feedback changes the memory.

    Attributes:
        adaptive: Whether the layer weights move; those that were learnt stay in use without.
        analytics: Whether usage is recorded.
        weights: Layer weights for everyone instead of those that are learnt, which rest meanwhile;
            None has each user's own.

    Raises:
        InvalidInput: If a weight is not a number within the bounds.
    """

    adaptive: bool = True
    analytics: bool = True
    weights: Weights | None = None

    def __post_init__(self) -> None:
        if self.weights is not None:
            checked_weights(self.weights)

    @property
    def moves_weights(self) -> bool:
        """Whether replies move the layer weights."""
        return self.adaptive and self.weights is None


@dataclass(frozen=True, slots=True)
class BackgroundOptions(Bounded):
    """When background work runs.

    Attributes:
        idle_s: Seconds without a turn after which a session is summarised.
        batch: Texts embedded at once.
        attempts: Tries before a piece of work is set aside, until the memory is opened again or
            `hotmem doctor --retry`.
        pause_s: Seconds before the second try; each further pause is four times as long.
    """

    idle_s: float = bounded(600.0, 0)
    batch: int = bounded(32, 1, whole=True)
    attempts: int = bounded(3, 1, whole=True)
    pause_s: float = bounded(1.0, 0)


@dataclass(frozen=True, slots=True)
class EvolutionOptions(Bounded):
    """How categories evolve into subcategories.

    Attributes:
        on: Whether they do so by themselves, in the background.
        every_s: Seconds after which a category that has grown evolves anew.
        cluster_size: Memories of a subcategory at least, 2 or more.
        most: Subcategories of a category at most.
    """

    on: bool = True
    every_s: float = bounded(6 * 3600.0, 0)
    cluster_size: int = bounded(5, 2, whole=True)
    most: int = bounded(10, 1, whole=True)


@dataclass(frozen=True, slots=True)
class SearchingOptions(Bounded):
    """How the memory tools search.

    Attributes:
        progressive: Whether a search goes from digests to turns and stops when enough is found,
            unless it says otherwise itself. Off, as it takes half as long again as a search of
            everything: memories alone seldom are enough (`python -m eval progressive`).
        suffices: Good results that are enough.
        good: Mean relevance, 0 to 1, from which they are (the design's); one above is never
            reached. A lower one ends more searches early and loses evidence: at 0.6 two to four
            points of REALTALK's.
    """

    progressive: bool = False
    suffices: int = bounded(3, 1, whole=True)
    good: float = bounded(0.8, 0)


@dataclass(frozen=True, slots=True)
class ForgettingOptions(Bounded):
    """How the user's own deletions are done, those that they ask their bot for.

    Attributes:
        grace_s: Seconds for which they can be brought back; then they are erased. 0 erases at once.
    """

    grace_s: float = bounded(24 * 3600.0, 0)


@dataclass(frozen=True, slots=True)
class ModelOptions(Bounded):
    """Which models run and where their prepared files lie.

    Attributes:
        encoder: "default" (all-MiniLM-L6-v2 trained on talks, int8, ONNX Runtime), a file
            (.safetensors) by `python -m eval encoder train`, or a sentence-transformers model by
            name or folder; "all-MiniLM-L6-v2-int8-2" is the default of earlier versions.
        cache_dir: Folder of prepared models; None is the user's cache folder.
        encoding: tiktoken encoding the budget is counted in.
        embeddings_cached: Embeddings kept in memory.
        relevance: File of coefficients by `python -m eval train`; None is the one that ships with
            this package.
    """

    encoder: str = "default"
    cache_dir: Path | None = None
    encoding: str = "o200k_base"
    embeddings_cached: int = bounded(4096, 0, whole=True)
    relevance: Path | None = None


@dataclass(frozen=True, slots=True)
class RewriteOptions(Bounded):
    """A language model that says what an utterance leaves unsaid; without one rules do.

    Attributes:
        model: Its name; "" for none.
        base_url: An endpoint of OpenAI's protocol; None is OpenAI's own.
        api_key: Its key.
        deadline_ms: Milliseconds it has; the recall's own deadline holds besides.
    """

    model: str = ""
    base_url: str | None = None
    api_key: str = field(default="", repr=False)
    deadline_ms: float = bounded(200.0, 0)


@dataclass(frozen=True, slots=True)
class AuditOptions(Bounded):
    """What is kept of who looked at a memory, changed it or took something out of it.

    Blocks of a bot are not, as records of their use are.

    Attributes:
        on: Whether it is kept.
        days: Days after which an entry goes.
    """

    on: bool = True
    days: int = bounded(365, 1, whole=True)


@dataclass(frozen=True, slots=True)
class RetentionRule(Bounded):
    """How long something is kept.

    Attributes:
        days: Days since it was said or, of a memory, last said or stored.
        category: Only memories of this category, with the turns they were read from; None is all
            that was said, is known and was asked.
        user_id: Only of this user; None is of everybody.
    """

    __pydantic_config__ = ConfigDict(
        extra="forbid"
    )  # a rule of a file with a misspelt user would be everybody's

    days: int = bounded(MISSING, 1, 36_500, whole=True)
    category: Category | None = None
    user_id: str | None = None

    def told(self) -> str:
        """The rule in words, without the user's name."""
        return f"{self.category or 'all'} older than {self.days} days"


@dataclass(frozen=True, slots=True)
class Options:
    """All options of a memory.

    Attributes:
        time_zone: Where the user is; None is this machine's zone.
        retention: How long what is kept, by default for ever. Every rule that fits is applied, so
            that the shortest holds.
        key: What the file is encrypted with: a passphrase, the path of a file whose first line it
            is, or a function that returns it. None is a plain file.
        spool_dir: Folder in which turns wait while the memory file cannot be written; None is
            beside it. One on another disk outlives a full one.
    """

    recall: RecallOptions = field(default_factory=RecallOptions)
    learning: LearningOptions = field(default_factory=LearningOptions)
    background: BackgroundOptions = field(default_factory=BackgroundOptions)
    evolution: EvolutionOptions = field(default_factory=EvolutionOptions)
    searching: SearchingOptions = field(default_factory=SearchingOptions)
    forgetting: ForgettingOptions = field(default_factory=ForgettingOptions)
    models: ModelOptions = field(default_factory=ModelOptions)
    rewriting: RewriteOptions = field(default_factory=RewriteOptions)
    audit: AuditOptions = field(default_factory=AuditOptions)
    retention: tuple[RetentionRule, ...] = ()
    time_zone: tzinfo | None = None
    key: KeySource | None = field(default=None, repr=False)
    spool_dir: Path | None = None

    def now(self) -> datetime:
        """The wall clock, where the user is."""
        return now_here() if self.time_zone is None else datetime.now(self.time_zone)


def checked_visible(visible: Sequence[str]) -> tuple[str, ...]:
    """The texts, unchanged.

    Raises:
        InvalidInput: If it is one text, or holds something that is none.
    """
    if (
        isinstance(visible, str)
        or not isinstance(visible, Iterable)
        or not all(isinstance(text, str) for text in visible)
    ):
        raise InvalidInput(
            'visible is no list of texts. Pass the texts the language model has before it, such as ["Hello!"].'
        )
    return tuple(visible)


def checked_weights(weights: Weights) -> Weights:
    """The weights, unchanged.

    Raises:
        InvalidInput: If one is not a number from `MIN_WEIGHT` to `MAX_WEIGHT`.
    """
    wrong = [
        f"{layer} is {weight!r}"
        for layer, weight in weights.as_dict().items()
        if not MIN_WEIGHT <= weight <= MAX_WEIGHT
    ]
    if wrong:
        raise InvalidInput(
            f"A layer weight is out of its bounds: {', '.join(wrong)}. Use numbers from {MIN_WEIGHT} to {MAX_WEIGHT}."
        )
    return weights


def weights_of(text: str) -> Weights:
    """Layer weights written as numbers in the layers' order: "1,0.8,0.6,0.4".

    Raises:
        InvalidInput: If it is not one number for each layer, or one is out of its bounds.
    """
    try:
        numbers = [float(number) for number in text.split(",")]
        return checked_weights(Weights.from_dict(dict(zip(Layer, numbers, strict=True))))
    except (ValueError, InvalidInput) as error:
        known = f"{','.join(Layer)} as numbers from {MIN_WEIGHT} to {MAX_WEIGHT}: 1,0.8,0.6,0.4"
        raise InvalidInput(f"{text!r} are no layer weights. Write {known}.") from error
