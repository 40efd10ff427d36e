"""Threads on which a memory runs recalls and writes."""

from dataclasses import dataclass
from typing import Final

from hotmem.core.loop_thread import LoopThread

MAX_CONCURRENT_RECALLS: Final = 2
"""Recalls that run at once: while one waits for the encoder, the next one starts. More would wait
for each other's parses."""


@dataclass(frozen=True, slots=True)
class WorkerThreads:
    """One thread for recalls and searches, one for direct writes.

    No recall queues behind a write.
    """

    recalls: LoopThread
    storing: LoopThread

    @classmethod
    def open(cls, *, networked: bool) -> "WorkerThreads":
        """Start both threads.

        Args:
            networked: Whether a recall waits for a network. The number of concurrent recalls is
                then not limited, so that one slow request does not delay the others.
        """
        return cls(
            LoopThread("hotmem-loop-recalls", None if networked else MAX_CONCURRENT_RECALLS),
            LoopThread("hotmem-loop-storing"),
        )

    async def close(self) -> None:
        """Wait for running work and end both threads."""
        await self.recalls.close()
        await self.storing.close()
