"""A question of the user's and what became of it; and which question a reply belongs to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from hotmem.pipecat.context import Question
from hotmem.pipecat.prefetch import Ask, Recall
from hotmem.types import ContextBlock


def now_ms() -> datetime:
    """The wall clock in UTC, cut to milliseconds like the times pipecat puts into its frames."""
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


@dataclass(frozen=True, slots=True)
class Timing:
    """What memory cost a turn, in ms.

    Attributes:
        ahead: How long before the context came its search had begun; 0 for one that began with it.
        waited: How long the context waited for its block.
        stages: The search's stages, in order; what they add up to beyond `ahead` had to be waited
            for. None where the block is another search's.
    """

    ahead: float
    waited: float
    stages: Mapping[str, float]


@dataclass(slots=True)
class TurnState:
    """A question, the search for its block, and what became of both.

    Attributes:
        question: What the user said.
        ask: What is searched for.
        recall: The search; it outlives an interruption of the frame that waits for it.
        began: When the search began, by `time.perf_counter()`.
        guessed: Whether it may not have been said: the recogniser foresaw the end of the turn.
        ahead: The search that was begun ahead and that `recall` waits for, if there was one.
        unhurried: A second search without haste, where the first was late; or what a guess asked of
            the memory itself.
        asked_at: When it was asked, by the wall clock.
        given: The block that was in time for the language model, if any.
        interrupted: Whether the user broke into the reply.
        resumed_at: When the model was last asked, again after each tool it called, by the wall
            clock; None while a tool is at work.
        heard: What was heard of the reply so far.
        command: Whether it asks something of the memory itself, or may answer what it asked.
    """

    question: Question
    ask: Ask
    recall: Recall
    began: float
    guessed: bool = False
    ahead: Recall | None = None
    unhurried: Recall | None = None
    asked_at: datetime = field(default_factory=now_ms)
    given: ContextBlock | None = None
    interrupted: bool = False
    resumed_at: datetime | None = field(default_factory=now_ms)
    heard: str = ""
    command: bool = False

    @property
    def searches(self) -> tuple[Recall, ...]:
        """All searches, running or not."""
        return tuple(
            search for search in (self.unhurried, self.recall, self.ahead) if search is not None
        )

    @property
    def block(self) -> ContextBlock | None:
        """The fullest block that is there by now."""
        tasks = (
            search
            for search in (self.unhurried, self.recall)
            if search is not None and search.done() and not search.cancelled()
        )
        return next(
            (block for block in (task.result() for task in tasks) if block is not None), None
        )

    @property
    def late(self) -> ContextBlock | None:
        """What was found or done only after the language model had been asked.

        That nothing is known is not worth telling late.
        """
        block = self.block
        worth_telling = block is not None and (
            block.items or (block.text and block.trace.analysis is None)
        )
        return block if worth_telling and block is not self.given else None

    def completed_by(self, timestamp: str) -> bool:
        """Whether a reply that began then is the answer, and no more what was said before a tool was called."""
        return self.resumed_at is not None and _read(timestamp, self.resumed_at) >= self.resumed_at


def answered(exchanges: Sequence[TurnState], timestamp: str) -> TurnState | None:
    """The exchange that a reply answers: the latest one asked before the reply began.

    When the user breaks in, what was heard of the old reply can arrive after the new question.

    Args:
        exchanges: The last exchanges, oldest first.
        timestamp: When the reply began, ISO 8601; without one it answers the latest question.
    """
    if not exchanges:
        return None
    began = _read(timestamp, exchanges[-1].asked_at)
    return next((exchange for exchange in reversed(exchanges) if exchange.asked_at <= began), None)


def _read(timestamp: str, otherwise: datetime) -> datetime:
    """A frame's time, ISO 8601; `otherwise` where it has none."""
    try:
        told = datetime.fromisoformat(timestamp)
    except ValueError:
        return otherwise
    return told if told.tzinfo else told.replace(tzinfo=UTC)
