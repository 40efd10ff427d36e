"""State of one turn: the utterance, its recalls and the reply."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from hotmem.pipecat.context import UserMessage, collapse_spaces
from hotmem.pipecat.prefetch import RecallRequest, RecallTask
from hotmem.types import ContextBlock


def now_ms() -> datetime:
    """The current time in UTC, truncated to milliseconds as in pipecat's frames."""
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


@dataclass(frozen=True, slots=True)
class RecallTiming:
    """Timing of a recall, in milliseconds.

    Attributes:
        prefetch_ms: How long before the context frame the recall started.
        waited_ms: How long the context frame waited for the block.
        stages_ms: Duration of each stage of the recall, in order; empty if the block is another
            recall's.
        prefetch_hit: Whether the recall was prefetched.
    """

    prefetch_ms: float
    waited_ms: float
    stages_ms: Mapping[str, float]
    prefetch_hit: bool


@dataclass(slots=True)
class TurnState:
    """One turn.

    Attributes:
        message: The user message.
        request: The recall request.
        recall: The recall; it outlives an interruption of the frame that waits for it.
        started_at: When the recall started, by `time.perf_counter()`.
        speculative: Whether the turn may not have ended (eager end-of-turn detection).
        prefetched: The prefetched recall that `recall` waits for.
        follow_up: A second recall with a long deadline, after the first missed its own; or the
            voice command of a turn that was speculative.
        asked_at: When the user message came, in UTC.
        delivered: The block the language model was given.
        interrupted: Whether the user interrupted the reply.
        prompted_at: When the language model last got a context, which is again after each tool
            call, in UTC; None while a tool runs.
        reply: The spoken part of the reply so far.
        is_command: Whether it is a voice command, or may answer a confirmation question.
    """

    message: UserMessage
    request: RecallRequest
    recall: RecallTask
    started_at: float
    speculative: bool = False
    prefetched: RecallTask | None = None
    follow_up: RecallTask | None = None
    asked_at: datetime = field(default_factory=now_ms)
    delivered: ContextBlock | None = None
    interrupted: bool = False
    prompted_at: datetime | None = field(default_factory=now_ms)
    reply: str = ""
    is_command: bool = False

    @property
    def recalls(self) -> tuple[RecallTask, ...]:
        """All recalls of the turn, running or done."""
        recalls = (self.follow_up, self.recall, self.prefetched)
        return tuple(recall for recall in recalls if recall is not None)

    @property
    def block(self) -> ContextBlock | None:
        """The most complete block so far."""
        for recall in (self.follow_up, self.recall):
            if recall is None or not recall.done() or recall.cancelled():
                continue
            if (block := recall.result()) is not None:
                return block
        return None

    @property
    def late_block(self) -> ContextBlock | None:
        """A block with items or a command's outcome that the language model was not given."""
        block = self.block
        if block is None or block is self.delivered:
            return None
        return block if block.items or is_command_outcome(block) else None

    def timing(self, delivered_at: float) -> RecallTiming:
        """The timing of its recall, where no frame waited for the block.

        Args:
            delivered_at: When the block was delivered, by `time.perf_counter()`.
        """
        block = self.block
        stages = {} if block is None or self.follow_up is not None else block.trace.stages
        prefetch_ms = max(delivered_at - self.started_at, 0) * 1000
        return RecallTiming(prefetch_ms, 0.0, stages, self.prefetched is not None)

    def add_reply(self, text: str) -> None:
        """Append to the spoken part of the reply."""
        self.reply = collapse_spaces(f"{self.reply} {text}")

    def is_answered_by(self, timestamp: str) -> bool:
        """Whether a reply is the answer, not what the bot said before a tool call.

        Args:
            timestamp: When the reply began, ISO 8601.
        """
        if self.prompted_at is None:
            return False
        return parse_time(timestamp, self.prompted_at) >= self.prompted_at


def is_command_outcome(block: ContextBlock) -> bool:
    """Whether a block is the outcome of a voice command."""
    return bool(block.text) and block.trace.analysis is None


def find_replied_turn(turns: Sequence[TurnState], timestamp: str) -> TurnState | None:
    """The turn a reply belongs to: the latest whose user message came before the reply began.

    After an interruption, the spoken part of the old reply may arrive after the new user message.

    Args:
        turns: The latest turns, oldest first.
        timestamp: When the reply began, ISO 8601; if empty, it belongs to the latest turn.
    """
    if not turns:
        return None
    began_at = parse_time(timestamp, turns[-1].asked_at)
    return next((turn for turn in reversed(turns) if turn.asked_at <= began_at), None)


def parse_time(timestamp: str, default: datetime) -> datetime:
    """A frame's timestamp, in UTC without an offset; the default if it is not ISO 8601."""
    try:
        time = datetime.fromisoformat(timestamp)
    except ValueError:
        return default
    return time if time.tzinfo else time.replace(tzinfo=UTC)
