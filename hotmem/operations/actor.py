"""The actor of the running code: who reads or changes a memory, for the audit log."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from hotmem.types import Actor

_ACTOR: Final[ContextVar[Actor]] = ContextVar("hotmem_actor", default=Actor.PROGRAM)


@contextmanager
def acting(actor: Actor) -> Iterator[None]:
    """Set the actor within a block, and in tasks that are started in it."""
    token = _ACTOR.set(actor)
    try:
        yield
    finally:
        _ACTOR.reset(token)


def actor() -> Actor:
    """The current actor; a program unless one was set."""
    return _ACTOR.get()
