"""Types of the callbacks that the processor passes to its parts."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol, TypeAlias, TypeVar

T = TypeVar("T")

ReportFailure: TypeAlias = Callable[[str, Exception], Awaitable[None]]
"""Reports the stage of a failure and its exception; does not raise."""

EmitEvent: TypeAlias = Callable[..., Awaitable[None]]
"""Calls the handlers of an event, given its name and arguments."""


class CreateTask(Protocol):
    """Creates a named task that the pipeline manages."""

    def __call__(self, coroutine: Coroutine[Any, Any, T], name: str, /) -> asyncio.Task[T]:
        """Create the task."""
        ...
