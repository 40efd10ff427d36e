"""On whose behalf the code that runs now works with a memory.

A program's, unless a door says otherwise.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from hotmem.types import Actor

_ACTOR: Final[ContextVar[Actor]] = ContextVar("hotmem_actor", default=Actor.PROGRAM)


@contextmanager
def acting(actor: Actor) -> Iterator[None]:
    """Says who acts within the block, and in the tasks that are begun there."""
    before = _ACTOR.set(actor)
    try:
        yield
    finally:
        _ACTOR.reset(before)


def actor() -> Actor:
    """Who acts."""
    return _ACTOR.get()
