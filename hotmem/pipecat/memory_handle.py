"""The memory of a processor: opened when the pipeline starts, released when it ends."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Final

from hotmem.core.location import ServerUrl
from hotmem.errors import StoreUnreachable
from hotmem.memory import Memory
from hotmem.models import Encoder
from hotmem.options import Options

RETRY_S: Final = 2.0
"""Seconds between two attempts to reach a server."""


class MemoryHandle:
    """The memory of a processor, which is absent before the pipeline starts and after it ends.

    Args:
        memory: An open memory, which the caller closes, or the path or URL of one; None for the
            default.
        options: Options of a memory given by path; None for those of the environment.

    Attributes:
        memory: The memory, open or not.
        owned: Whether the processor opens and closes it.
        current: The memory while it is in use; None before it is open, if it could not be opened,
            and after `release`.
        retrying: Whether it could not be reached and opening is tried again.
    """

    def __init__(
        self, memory: Memory | str | Path | ServerUrl | None, options: Options | None = None
    ) -> None:
        self.current: Memory | None = None
        self.retrying = False
        if isinstance(memory, Memory):
            self.memory = self.current = memory
            self.owned = False
        else:
            self.memory = Memory(memory, options)
            self.owned = True

    @property
    def encoder(self) -> Encoder | None:
        """The encoder of the memory; None while it is not in use."""
        return None if self.current is None else self.current.runtime.recall.encoder

    async def open(self) -> None:
        """Open a memory given by path."""
        if self.owned:
            await self.memory.start()
            self.current = self.memory

    async def retry(self) -> None:
        """Open a memory whose server could not be reached, once it can.

        Raises:
            HotMemError: If it was reached and cannot be used.
        """
        self.retrying = True
        try:
            while self.current is None:
                await asyncio.sleep(RETRY_S)
                with suppress(StoreUnreachable):
                    await self.open()
        finally:
            self.retrying = False

    def is_blocked(self) -> bool:
        """Whether a write waits for another program's lock."""
        return self.current is not None and self.current.blocked() is not None

    def release(self) -> None:
        """Start no further work on the memory."""
        self.current = None
