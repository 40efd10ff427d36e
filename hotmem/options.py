"""Options of each stage, passed as arguments; this module does not read the environment.

`hotmem.settings` fills them from HOTMEM_ variables when a memory is opened without options. A
number out of range raises `InvalidInput`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import MISSING, dataclass, field, fields
from datetime import datetime, tzinfo
from enum import StrEnum
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from hotmem.core.location import KeySource
from hotmem.core.validation import Bounded, bounded, counted, validate_type
from hotmem.errors import InvalidInput
from hotmem.text.languages import checked_language
from hotmem.text.timezones import local_now
from hotmem.types import MAX_WEIGHT, MIN_WEIGHT, Category, Layer, Weights

MIN_TOKENS: Final = 1

RULES_EXAMPLE: Final = (
    '[{"days": 365}, {"days": 90, "category": "projects"}, {"days": 30, "user_id": "ana"}]'
)


@dataclass(frozen=True, slots=True)
class RecallOptions(Bounded):
    """Options of recall and of the context block.

    Attributes:
        max_tokens: Maximum tokens of a context block.
        deadline_ms: Deadline in milliseconds; the block contains what is ready by then. None
            waits for all layers.
        semantic_threshold: Minimum calibrated relevance, 0 to 1, of an item of any layer.
        verbatim_window: Characters of the turn shown on each side of a passage, 0 to 1000.
        symbols: Show confidence marks as coloured circles instead of words.
        layers: The enabled layers.
        say_unknown: State in the block that nothing is known of a question or the names in it.
        opening_tokens: Maximum tokens of what is given without a question: user profile, standing
            instructions, current matters and open ends. 0 disables it.
    """

    max_tokens: int = bounded(1000, MIN_TOKENS, whole=True)
    deadline_ms: float | None = bounded(None, 0)
    semantic_threshold: float = bounded(0.0, 0, 1)
    verbatim_window: int = bounded(0, 0, 1000, whole=True)
    symbols: bool = False
    layers: tuple[Layer, ...] = tuple(Layer)
    say_unknown: bool = True
    opening_tokens: int = bounded(200, 0, whole=True)


@dataclass(frozen=True, slots=True)
class LearningOptions:
    """Options of learning from feedback.

    Attributes:
        adaptive: Update the layer weights from replies. It repairs weights that do not fit; from
            the shipped ones it moves them little (`python -m eval learn`). Weights learned before
            stay in use without it.
        analytics: Record usage.
        weights: Fixed layer weights for all users; None uses each user's learned weights.

    Raises:
        InvalidInput: If a weight is not a number within the bounds.
    """

    adaptive: bool = True
    analytics: bool = True
    weights: Weights | None = None

    def __post_init__(self) -> None:
        if self.weights is not None:
            check_weights(self.weights)

    @property
    def moves_weights(self) -> bool:
        """Whether replies change the layer weights."""
        return self.adaptive and self.weights is None


class BackgroundMode(StrEnum):
    """Where the background jobs of a memory run.

    HERE: in this process. ELSEWHERE: in another one that has the file open, such as `hotmem
    worker`. OFF: nowhere; turns are stored and found by their words alone.
    """

    HERE = "here"
    ELSEWHERE = "elsewhere"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class BackgroundOptions(Bounded):
    """Options of background jobs.

    Attributes:
        mode: Where they run.
        idle_s: Seconds without a turn after which a session is summarised.
        batch: Texts embedded at once.
        attempts: Attempts before a job is set aside, until the memory is opened again or
            `hotmem doctor --retry`.
        pause_s: Seconds before the second attempt; each further pause is four times as long.
        poll_s: Seconds between two looks for jobs that other processes add.
    """

    mode: BackgroundMode = BackgroundMode.HERE
    idle_s: float = bounded(600.0, 0)
    batch: int = bounded(32, 1, whole=True)
    attempts: int = bounded(3, 1, whole=True)
    pause_s: float = bounded(1.0, 0)
    poll_s: float = bounded(30.0, 0.05)


@dataclass(frozen=True, slots=True)
class EvolutionOptions(Bounded):
    """Options of subcategories, found by clustering the memories of a category.

    Attributes:
        on: Rebuild subcategories in the background.
        every_s: Seconds after which the subcategories of a category that has grown are rebuilt.
        cluster_size: Minimum memories of a subcategory, 2 or more.
        most: Maximum subcategories of a category.
    """

    on: bool = True
    every_s: float = bounded(6 * 3600.0, 0)
    cluster_size: int = bounded(5, 2, whole=True)
    most: int = bounded(10, 1, whole=True)


@dataclass(frozen=True, slots=True)
class ForgettingOptions(Bounded):
    """Options of deletions that a user requests by voice.

    Attributes:
        grace_s: Seconds during which a deletion can be undone; then it is final. 0 erases at once.
    """

    grace_s: float = bounded(24 * 3600.0, 0)


@dataclass(frozen=True, slots=True)
class ModelOptions(Bounded):
    """Which models run.

    Attributes:
        encoder: "default" (all-MiniLM-L6-v2 trained on talks, int8, ONNX Runtime), a file (.onnx)
            by `python -m eval encoder export`, or a sentence-transformers model by name or folder.
        encoding: tiktoken encoding the budget is counted in.
        embeddings_cached: Embeddings kept in memory.
        relevance: File of coefficients by `python -m eval train`, used without the network that
            rescores; None is the one that ships with this package, with it.
        gc_freeze: Call `gc.freeze` once after loading, which excludes all objects of the process
            from garbage collection. Full collections then do not pause the event loop to scan the
            models. For processes that run only a bot.
    """

    encoder: str = "default"
    encoding: str = "o200k_base"
    embeddings_cached: int = bounded(4096, 0, whole=True)
    relevance: Path | None = None
    gc_freeze: bool = False


@dataclass(frozen=True, slots=True)
class RewriteOptions(Bounded):
    """Options of query rewriting by a language model; without a model, rules rewrite.

    Attributes:
        model: Model name; "" for none.
        base_url: OpenAI-compatible endpoint; None is OpenAI's own.
        api_key: API key.
        deadline_ms: Deadline in milliseconds; the deadline of the recall applies as well.
    """

    model: str = ""
    base_url: str | None = None
    api_key: str = field(default="", repr=False)
    deadline_ms: float = bounded(200.0, 0)


@dataclass(frozen=True, slots=True)
class ExtractionOptions(Bounded):
    """Options of the language model that extracts facts, besides the reader. Off without a model.

    What is said then leaves this machine: the stored turns of conversations from then on are sent
    to the endpoint. Turns off the record, forgotten and imported ones are not. Every process that
    runs background jobs of a memory needs the same options.

    Attributes:
        model: Model name; "" for none.
        base_url: OpenAI-compatible endpoint; None is OpenAI's own.
        api_key: API key.
        every_turns: Turns of the user after which a session that goes on is sent; 0 sends it once,
            when it has ended.
        timeout_s: Seconds until a call has failed.
        daily_calls: Calls a day at most, of all users together; the day is one of UTC.
        daily_tokens: Tokens a day at most, sent and received.
        session_calls: Calls for one session at most.
        topics: The model also names new subcategories: up to eight statements of each are sent,
            whatever their source.
        summaries: The model also writes the summary of a session that has ended, from all its
            turns: one call more each time that the session has ended with new turns.
    """

    model: str = ""
    base_url: str | None = None
    api_key: str = field(default="", repr=False)
    every_turns: int = bounded(0, 0, whole=True)
    timeout_s: float = bounded(60.0, 0.05)
    daily_calls: int = bounded(200, 0, whole=True)
    daily_tokens: int = bounded(500_000, 0, whole=True)
    session_calls: int = bounded(10, 1, whole=True)
    topics: bool = False
    summaries: bool = False


@dataclass(frozen=True, slots=True)
class AuditOptions(Bounded):
    """Options of the audit log: who read, changed, exported or deleted memories.

    Recalls of a bot are not logged; their usage records are stored separately.

    Attributes:
        on: Write the audit log.
        days: Days after which an entry is deleted.
    """

    on: bool = True
    days: int = bounded(365, 1, whole=True)


@dataclass(frozen=True, slots=True)
class RetentionRule(Bounded):
    """How long data is kept.

    Attributes:
        days: Age in days, since a turn was spoken or a memory last stated or stored.
        category: Only memories of this category, with their source turns; None covers turns,
            memories and queries.
        user_id: Only this user; None covers all users.
    """

    days: int = bounded(MISSING, 1, 36_500, whole=True)
    category: Category | None = None
    user_id: str | None = None

    def describe(self) -> str:
        """Describe the rule, without the user ID."""
        return f"{self.category or 'all'} older than {counted(self.days, 'day')}"


@dataclass(frozen=True, slots=True)
class Options:
    """All options of a memory.

    Attributes:
        time_zone: Time zone of the user; None is the time zone of this machine.
        retention: Retention rules; without any, data is kept for ever. All matching rules apply,
            so the shortest wins.
        key: Encryption key: a passphrase, the path of a file whose first line is the passphrase,
            or a function that returns it. None for a plain file.
        spool_dir: Folder that holds turns while the memory file cannot be written; None is the
            folder of the memory file. Choose another disk to survive a full one.
        language: ISO 639-1 code of the language that is mostly spoken (`hotmem.text.languages`),
            by whose rules words are stemmed. None for that of the memory, or English for a new one.

    Raises:
        InvalidInput: If options of a stage have another type, or the language is not supported.
    """

    recall: RecallOptions = field(default_factory=RecallOptions)
    learning: LearningOptions = field(default_factory=LearningOptions)
    background: BackgroundOptions = field(default_factory=BackgroundOptions)
    evolution: EvolutionOptions = field(default_factory=EvolutionOptions)
    forgetting: ForgettingOptions = field(default_factory=ForgettingOptions)
    models: ModelOptions = field(default_factory=ModelOptions)
    rewriting: RewriteOptions = field(default_factory=RewriteOptions)
    extraction: ExtractionOptions = field(default_factory=ExtractionOptions)
    audit: AuditOptions = field(default_factory=AuditOptions)
    retention: tuple[RetentionRule, ...] = ()
    time_zone: tzinfo | None = None
    key: KeySource | None = field(default=None, repr=False)
    spool_dir: Path | None = None
    language: str | None = None

    def __post_init__(self) -> None:
        for one in fields(self):
            if isinstance(kind := one.default_factory, type):
                fix = f"Pass hotmem.options.{kind.__name__}(...)."
                validate_type(getattr(self, one.name), kind, one.name, fix)
        if self.language is not None:
            checked_language(self.language)

    def now(self) -> datetime:
        """Return the current time in the time zone of the user."""
        return local_now() if self.time_zone is None else datetime.now(self.time_zone)


def load_retention_rules(path: Path) -> tuple[RetentionRule, ...]:
    """Read retention rules from a JSON file: a list of objects like `RULES_EXAMPLE`.

    Raises:
        InvalidInput: If the file cannot be read, or is not such a list.
    """
    try:
        return TypeAdapter(tuple[RetentionRule, ...]).validate_json(path.read_bytes(), strict=True)
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read ({type(error).__name__})."
            " Set HOTMEM_RETENTION_FILE to a file of retention rules."
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise InvalidInput(
            f"{path}: {place} cannot be used: {first['msg']}. Write a list such as {RULES_EXAMPLE}."
        ) from error


def checked_visible(visible: Sequence[str]) -> tuple[str, ...]:
    """Return the texts as a tuple.

    Raises:
        InvalidInput: If it is a single string or contains something other than strings.
    """
    if (
        isinstance(visible, str)
        or not isinstance(visible, Iterable)
        or not all(isinstance(text, str) for text in visible)
    ):
        raise InvalidInput(
            "visible is not a list of strings. Pass the texts in the context of the language "
            'model, such as ["Hello!"].'
        )
    return tuple(visible)


def check_weights(weights: Weights) -> Weights:
    """Return the weights unchanged.

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
            f"A layer weight is out of range: {', '.join(wrong)}. "
            f"Use numbers from {MIN_WEIGHT} to {MAX_WEIGHT}."
        )
    return weights
