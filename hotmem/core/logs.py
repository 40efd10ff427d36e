"""Logging through loguru, as pipecat does, so that one configuration serves both.

The application sets level and destination; `loguru.logger.disable("hotmem")` silences the package.
A message is an event and its fields, `recall finished items=3 tokens=120`; structured sinks find
them in `record["extra"]`. Fields are ids, counts and times, never user text.
"""

from typing import Final

from loguru import logger

from hotmem.text.escaping import escape_for_log


class Log:
    """Log events with fields, attributed to the calling module."""

    def info(self, event: str, **fields: object) -> None:
        """Log normal operation."""
        _log("INFO", event, fields)

    def warning(self, event: str, **fields: object) -> None:
        """Log a degradation that needs attention."""
        _log("WARNING", event, fields)

    def error(self, event: str, **fields: object) -> None:
        """Log a failure."""
        _log("ERROR", event, fields)


log: Final = Log()


def _log(level: str, event: str, fields: dict[str, object]) -> None:
    message = " ".join(
        (
            event,
            *(
                f"{name}={escape_for_log(value)}"
                for name, value in fields.items()
                if value is not None
            ),
        )
    )
    logger.bind(event=event, **fields).opt(depth=2).log(level, message)
