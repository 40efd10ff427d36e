"""What a bot process does, in a file that survives its death: one JSON object a line."""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any


class Entry(StrEnum):
    """Kinds of entries."""

    READY = "ready"
    """The process has loaded its models."""

    CALL = "call"
    """A call begins."""

    SAID = "said"
    """The user said a text; written before it is sent into the pipeline."""

    ACKNOWLEDGED = "acknowledged"
    """A turn was stored (`on_memory_stored`), or is durable in the spool (`on_memory_spooled`)."""

    RECALL = "recall"
    """A context reached the language model."""

    DELIVERED = "delivered"
    """A block was injected; the turns that its items quote."""

    UNANSWERED = "unanswered"
    """No context reached the language model."""

    ERROR = "error"
    """The memory told an error (`on_memory_error`)."""

    ENDED = "ended"
    """A call is over, and its memory closed; with the number of blocks that were late."""

    DONE = "done"
    """The process ends: all calls are over, and its spool is empty or could not be emptied."""

    KILLED = "killed"
    """A bot or worker was killed; in the log of the whole fleet, as all that follow."""

    TAKEN_OVER = "taken over"
    """Nothing is left of the leases of a worker that was killed."""

    STOPPED = "stopped"
    """The server is about to be restarted."""

    RESTARTED = "restarted"
    """The restart is over."""


@dataclass(frozen=True, slots=True)
class Log:
    """The log of one process.

    Attributes:
        path: The file.
    """

    path: Path

    def write(self, kind: Entry, **fields: Any) -> None:  # noqa: ANN401 - whatever JSON can hold
        """Append an entry with the time; it is the system's when this returns."""
        line = json.dumps({"kind": kind, "at": time.time()} | fields) + "\n"
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, line.encode())
        finally:
            os.close(file)

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield the entries; none if there is no file."""
        if self.path.exists():
            for line in self.path.read_text("utf-8").splitlines():
                yield json.loads(line)
