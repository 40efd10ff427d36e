"""The search that runs while the user still speaks."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final, TypeAlias

from hotmem.pipecat.hearing import content
from hotmem.types import ContextBlock

Recall: TypeAlias = asyncio.Task[ContextBlock | None]
"""A search in progress; None if it failed."""

SETTLED_S: Final = 0.1
"""Seconds without a new word after which what was heard is searched for. Recognisers send interim transcripts every 50 to 200 ms while
words come; the pause before a final one is longer. A search for every word would cost a fifth of a core a speaker."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What is searched for.

    Attributes:
        text: The user's words.
        visible: What the language model has before it already, without them.
    """

    text: str
    visible: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for two asks that the same block answers."""
        return content(self.text), self.visible


@dataclass(frozen=True, slots=True)
class Search:
    """A search and when it began, by `time.perf_counter()`."""

    ask: Ask
    task: Recall
    began: float = field(default_factory=perf_counter)


class Prefetch:
    """One search at a time, for the latest words. What an earlier one has parsed and embedded stays in the memory's caches.

    Args:
        search: Begins a search.
    """

    def __init__(self, search: Callable[[Ask], Recall]) -> None:
        self._search = search
        self._wanted: Ask | None = None
        self._latest: Search | None = None
        self._timer: asyncio.TimerHandle | None = None

    def hear(self, ask: Ask) -> None:
        """Takes note of what was heard so far, and searches for it unless more words follow soon."""
        if self._wanted is not None and self._wanted.key == ask.key:
            return
        self._wait(ask)
        self._timer = asyncio.get_running_loop().call_later(SETTLED_S, self.begin)

    def finish(self, ask: Ask) -> None:
        """Searches for the whole of what was said at once."""
        self._wait(ask)
        self.begin()

    def begin(self) -> None:
        """Searches for what was heard last, in place of any search for other words."""
        wanted = self._wanted
        self._disarm()
        if wanted is None or not content(wanted.text) or (self._latest is not None and self._latest.ask.key == wanted.key):
            return
        self.stop()
        self._latest = Search(wanted, self._search(wanted))

    def found(self, ask: Ask) -> Search | None:
        """The search that answers it, finished or not, if there is one."""
        return self._latest if self._latest is not None and self._latest.ask.key == ask.key else None

    def stop(self) -> None:
        """Gives up a search that is still running."""
        self._disarm()
        if self._latest is not None and not self._latest.task.done():
            self._latest.task.cancel()
            self._latest = None

    def _wait(self, ask: Ask) -> None:
        self._disarm()
        self._wanted = ask

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
