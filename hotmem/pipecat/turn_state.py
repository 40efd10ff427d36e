"""State of one turn: the utterance, its recalls ahead of time, and the reply."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import perf_counter
from typing import Final, TypeAlias

from hotmem.pipecat.context import UserMessage, collapse_spaces
from hotmem.pipecat.transcript import speech_key
from hotmem.types import ContextBlock

RecallTask: TypeAlias = asyncio.Future[ContextBlock | None]
"""A recall, running or done; its result is None if it failed."""


FIRST_SETTLE_S: Final = 0.6
"""Seconds without a new word after which a prefetch starts, after the first transcript of a turn.
Streaming recognisers send the next interim transcript within this time, which would make a recall
started earlier useless."""

MIN_SETTLE_S, MAX_SETTLE_S = 0.1, 1.0
"""The same after later transcripts."""

PAUSE_FACTOR: Final = 1.5
"""Settle time in units of the longest gap between the turn's transcripts so far, so that steady
speech does not start a recall with every transcript."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """An utterance to recall memories for.

    Attributes:
        text: The utterance.
        visible: The conversation the language model sees besides it.
        turn: The number of the user's turn.
        guest: Who asks, if it is another speaker than the user.
    """

    text: str
    visible: tuple[str, ...] = ()
    turn: int = 0
    guest: str | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for two requests that have the same block as answer."""
        return speech_key(self.text), self.visible, self.turn, self.guest


@dataclass(frozen=True, slots=True)
class PrefetchedRecall:
    """A prefetched recall.

    Attributes:
        request: The request.
        task: The recall.
        started_at: When it started, by `time.perf_counter()`.
    """

    request: Utterance
    task: RecallTask
    started_at: float = field(default_factory=perf_counter)


class Prefetch:
    """Prefetches for the latest transcript, one recall at a time.

    A recall for an earlier transcript is cancelled; its parse and embeddings remain in the
    memory's caches.
    """

    def __init__(self) -> None:
        self._scheduled: Utterance | None = None
        self._running: PrefetchedRecall | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._heard_at = 0.0
        self._longest_gap = 0.0

    def schedule(
        self, request: Utterance, recall: Callable[[], RecallTask], *, immediately: bool
    ) -> None:
        """Schedule a recall for a transcript, in place of any earlier one.

        Args:
            request: The request.
            recall: Starts the recall.
            immediately: Whether to start it now, instead of once no more words come.
        """
        if not immediately and self._scheduled is not None and self._scheduled.key == request.key:
            return
        self._cancel_timer()
        settle_s = self._settle_s(request)
        self._scheduled = request
        if immediately:
            self._start(request, recall)
        else:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(settle_s, self._start, request, recall)

    def take(self, request: Utterance) -> PrefetchedRecall | None:
        """Remove and return the recall for a request, running or done; cancel any other."""
        prefetched = self._running
        if prefetched is not None and prefetched.request.key == request.key:
            self._running = None
            self._cancel_timer()
            return prefetched
        self.stop()
        return None

    def stop(self) -> None:
        """Cancel the recall that is scheduled or running."""
        self._cancel_timer()
        self._scheduled = None
        if self._running is not None:
            self._running.task.cancel()
            self._running = None

    def _settle_s(self, request: Utterance) -> float:
        """Seconds to wait for more words, from the pace of the transcripts so far."""
        now, before = perf_counter(), self._heard_at
        self._heard_at = now
        if self._scheduled is None or self._scheduled.turn != request.turn:
            self._longest_gap = 0.0
            return FIRST_SETTLE_S
        self._longest_gap = max(self._longest_gap, now - before)
        return min(max(PAUSE_FACTOR * self._longest_gap, MIN_SETTLE_S), MAX_SETTLE_S)

    def _start(self, request: Utterance, recall: Callable[[], RecallTask]) -> None:
        """Start a recall unless one for the same words is running or the text has no words."""
        self._cancel_timer()
        running = self._running
        if not speech_key(request.text):
            return
        if running is not None:
            if running.request.key == request.key:
                return
            running.task.cancel()
        self._running = PrefetchedRecall(request, recall())

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


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
    request: Utterance
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
        recalls = (one for one in (self.follow_up, self.recall) if one is not None)
        ended = (one.result() for one in recalls if one.done() and not one.cancelled())
        return next((block for block in ended if block is not None), None)

    @property
    def late_block(self) -> ContextBlock | None:
        """A block with items or a command's outcome that the language model was not given."""
        block = self.block
        if block is None or block is self.delivered:
            return None
        return block if block.items or is_command_outcome(block) else None

    def timing(self, wanted_at: float, waited_ms: float = 0.0) -> RecallTiming:
        """The timing of its recall.

        Args:
            wanted_at: When its block was wanted, by `time.perf_counter()`.
            waited_ms: How long a frame waited for the block.
        """
        block = self.block
        stages = {} if block is None or self.follow_up is not None else block.trace.stages
        prefetch_ms = max(wanted_at - self.started_at, 0) * 1000
        return RecallTiming(prefetch_ms, waited_ms, stages, self.prefetched is not None)

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
