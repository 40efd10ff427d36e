"""Capturing log records."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from loguru import logger


@contextmanager
def captured_logs() -> Iterator[list[dict[str, Any]]]:
    """Collect the fields of HotMem's log records, with level and message, inside the block."""
    found: list[dict[str, Any]] = []

    def note(message: Any) -> None:  # noqa: ANN401 - loguru's own
        record = message.record
        found.append(
            {
                **record["extra"],
                "log_level": record["level"].name.lower(),
                "message": record["message"],
            }
        )

    sink = logger.add(note, level="DEBUG", filter="hotmem")
    try:
        yield found
    finally:
        logger.remove(sink)
