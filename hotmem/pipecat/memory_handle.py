"""The memory of a processor: opened when the pipeline starts, released when it ends."""

from pathlib import Path

from hotmem.core.location import ServerUrl
from hotmem.memory import Memory
from hotmem.options import Options


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
    """

    def __init__(
        self, memory: Memory | str | Path | ServerUrl | None, options: Options | None = None
    ) -> None:
        self.current: Memory | None = None
        if isinstance(memory, Memory):
            self.memory = self.current = memory
            self.owned = False
        else:
            self.memory = Memory(memory, options)
            self.owned = True

    async def open(self) -> None:
        """Open a memory given by path."""
        if self.owned:
            await self.memory.start()
            self.current = self.memory

    def is_blocked(self) -> bool:
        """Whether a write waits for another program's lock."""
        return self.current is not None and self.current.blocked() is not None

    def release(self) -> None:
        """Start no further work on the memory."""
        self.current = None
