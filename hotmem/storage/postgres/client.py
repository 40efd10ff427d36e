"""A psycopg connection that gives up on a server that no longer answers."""

import time
from collections.abc import Generator
from typing import Any, Final, TypeVar

import psycopg

T = TypeVar("T")

LOOK_S: Final = 0.1
"""Seconds between two looks at the clock while an answer is awaited."""


class Client(psycopg.Connection[Any]):
    """A connection whose calls wait for the server for a limited time.

    The server's own timeouts, and those of TCP, do not end a call to a server process that has been
    stopped. The connection is closed then: what the server did is not known.

    Attributes:
        patience_s: Seconds that a call waits; None for as long as it takes.
    """

    patience_s: float | None = None

    def wait(self, gen: Generator[Any, Any, T], interval: float = LOOK_S, *more: Any) -> T:  # noqa: ANN401 - psycopg's
        """Waits for an operation of the connection.

        Raises:
            psycopg.OperationalError: If there was no answer in time.
        """
        if self.patience_s is None:
            return super().wait(gen, interval, *more)
        bounded = self._bounded(gen, time.monotonic() + self.patience_s)
        return super().wait(bounded, min(interval, LOOK_S), *more)

    def _bounded(self, gen: Generator[Any, Any, T], until: float) -> Generator[Any, Any, T]:
        """The generator, which is resumed with 0 whenever nothing came for a while."""
        try:
            awaited = next(gen)
            while True:
                ready = yield awaited
                if not ready and time.monotonic() > until:
                    gen.close()
                    self.pgconn.finish()
                    raise psycopg.OperationalError("the server does not answer")
                awaited = gen.send(ready)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # a generator's value is untyped
