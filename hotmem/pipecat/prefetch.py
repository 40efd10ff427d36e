"""Prefetch: recall while the user is still speaking."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final, TypeAlias

from hotmem.pipecat.transcript import speech_key
from hotmem.types import ContextBlock

RecallTask: TypeAlias = asyncio.Future[ContextBlock | None]
"""A recall, running or done; its result is None if it failed."""


@dataclass(frozen=True, slots=True)
class SettleTime:
    """Seconds without a new word after which a prefetch starts.

    Attributes:
        minimum: The minimum.
        first: After the first transcript of a turn.
        maximum: The maximum.
    """

    minimum: float = 0.1
    first: float = 0.6
    maximum: float = 1.0


SETTLE_TIME: Final = SettleTime()
"""Streaming recognisers send the next interim transcript within this time, which would make a
recall started earlier useless."""

PAUSE_FACTOR: Final = 1.5
"""Settle time in units of the longest gap between the turn's transcripts so far, so that steady
speech does not start a recall with every transcript."""


@dataclass(frozen=True, slots=True)
class RecallRequest:
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

    request: RecallRequest
    task: RecallTask
    started_at: float = field(default_factory=perf_counter)


class Prefetch:
    """Prefetches for the latest transcript, one recall at a time.

    A recall for an earlier transcript is cancelled; its parse and embeddings remain in the
    memory's caches.
    """

    def __init__(self) -> None:
        self._scheduled: RecallRequest | None = None
        self._running: PrefetchedRecall | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._heard_at = 0.0
        self._longest_gap = 0.0

    def schedule(
        self, request: RecallRequest, recall: Callable[[], RecallTask], *, immediately: bool
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

    def take(self, request: RecallRequest) -> PrefetchedRecall | None:
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

    def _settle_s(self, request: RecallRequest) -> float:
        """Seconds to wait for more words, from the pace of the transcripts so far."""
        now, before = perf_counter(), self._heard_at
        self._heard_at = now
        if self._scheduled is None or self._scheduled.turn != request.turn:
            self._longest_gap = 0.0
            return SETTLE_TIME.first
        self._longest_gap = max(self._longest_gap, now - before)
        return min(max(PAUSE_FACTOR * self._longest_gap, SETTLE_TIME.minimum), SETTLE_TIME.maximum)

    def _start(self, request: RecallRequest, recall: Callable[[], RecallTask]) -> None:
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
