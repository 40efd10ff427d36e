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
        stages: The search's stages, in order; what they add up to beyond `ahead` had to be waited for.
    """

    ahead: float
    waited: float
    stages: Mapping[str, float]


@dataclass(slots=True)
class Exchange:
    """A question, the search for its block, and what became of both.

    Attributes:
        question: What the user said.
        ask: What is searched for.
        recall: The search; it outlives an interruption of the frame that waits for it.
        began: When the search began, by `time.perf_counter()`.
        unhurried: A second search without haste, where the first was late.
        asked_at: When it was asked, by the wall clock.
        given: The block that was in time for the language model, if any.
        interrupted: Whether the user broke into the reply.
    """

    question: Question
    ask: Ask
    recall: Recall
    began: float
    unhurried: Recall | None = None
    asked_at: datetime = field(default_factory=now_ms)
    given: ContextBlock | None = None
    interrupted: bool = False

    @property
    def searches(self) -> tuple[Recall, ...]:
        """The searches, the one without haste first."""
        return (self.recall,) if self.unhurried is None else (self.unhurried, self.recall)

    @property
    def block(self) -> ContextBlock | None:
        """The fullest block that is there by now."""
        done = (search.result() for search in self.searches if search.done() and not search.cancelled())
        return next((block for block in done if block is not None), None)

    @property
    def late(self) -> ContextBlock | None:
        """What was found only after the language model had been asked."""
        block = self.block
        return block if block is not None and block.items and (self.given is None or not self.given.items) else None


def answered(exchanges: Sequence[Exchange], timestamp: str) -> Exchange | None:
    """The exchange that a reply answers: the latest one asked before the reply began.

    When the user breaks in, what was heard of the old reply can arrive after the new question.

    Args:
        exchanges: The last exchanges, oldest first.
        timestamp: When the reply began, ISO 8601; without one it answers the latest question.
    """
    try:
        began = datetime.fromisoformat(timestamp)
    except ValueError:
        return exchanges[-1] if exchanges else None
    began = began if began.tzinfo else began.replace(tzinfo=UTC)
    return next((exchange for exchange in reversed(exchanges) if exchange.asked_at <= began), None)
