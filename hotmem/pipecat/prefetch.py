"""The search that runs while the user still speaks."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final, TypeAlias

from hotmem.pipecat.transcript import gist
from hotmem.types import ContextBlock

Recall: TypeAlias = asyncio.Future[ContextBlock | None]
"""A search, in progress or done; None if it failed."""

SETTLED_S: Final = (0.1, 0.6, 1.0)
"""Seconds without a new word after which what was heard is searched for: at least, for a first
transcript, and at most. The next one comes within half a second where recognisers stream, and a
search begun before it is in vain."""

PAUSE: Final = 1.5
"""Times the longest gap between the turn's transcripts so far: what comes at an even pace is not
over yet. A search for every transcript would cost a fifth of a core a speaker, and fifty
speakers would wait for each other."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What is searched for.

    Attributes:
        text: The user's words.
        visible: What the language model has before it already, without them.
        turn: Which turn of the user's it is.
    """

    text: str
    visible: tuple[str, ...] = ()
    turn: int = 0

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for two asks that the same block answers."""
        return gist(self.text), self.visible, self.turn


@dataclass(frozen=True, slots=True)
class Search:
    """A search and when it began, by `time.perf_counter()`."""

    ask: Ask
    task: Recall
    began: float = field(default_factory=perf_counter)


class Prefetch:
    """One search at a time, for the latest words.

    What an earlier one has parsed and embedded stays in the memory's caches.
    """

    def __init__(self) -> None:
        self._wanted: Ask | None = None
        self._latest: Search | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._heard_at = 0.0
        self._gap = 0.0

    def hear(self, ask: Ask, search: Callable[[], Recall], *, at_once: bool) -> None:
        """Takes note of what was heard so far, and searches for it unless more words follow soon.

        Args:
            ask: What was heard.
            search: Begins the search.
            at_once: Whether no more words are waited for.
        """
        if not at_once and self._wanted is not None and self._wanted.key == ask.key:
            return
        self._disarm()
        settled_s = self._settled_s(ask)
        self._wanted = ask
        if at_once:
            self._begin(ask, search)
        else:
            self._timer = asyncio.get_running_loop().call_later(settled_s, self._begin, ask, search)

    def take(self, ask: Ask) -> Search | None:
        """Hands over the search that answers it, finished or not, if there is one.

        Any other is given up.
        """
        taken = self._latest
        if taken is not None and taken.ask.key == ask.key:
            self._latest = None
            self._disarm()
            return taken
        self.stop()
        return None

    def stop(self) -> None:
        """Gives up a search that is still running."""
        self._disarm()
        self._wanted = None
        if self._latest is not None:
            self._latest.task.cancel()
            self._latest = None

    def _settled_s(self, ask: Ask) -> float:
        """Seconds to wait for more words, by the pace at which they came."""
        least, first, most = SETTLED_S
        now, before = perf_counter(), self._heard_at
        self._heard_at = now
        if self._wanted is None or self._wanted.turn != ask.turn:
            self._gap = 0.0
            return first
        self._gap = max(self._gap, now - before)
        return min(max(PAUSE * self._gap, least), most)

    def _begin(self, ask: Ask, search: Callable[[], Recall]) -> None:
        """Searches for these words, in place of any search for others."""
        self._disarm()
        if not gist(ask.text) or (self._latest is not None and self._latest.ask.key == ask.key):
            return
        if self._latest is not None:
            self._latest.task.cancel()
        self._latest = Search(ask, search())

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
