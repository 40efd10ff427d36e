"""Logging through loguru, as pipecat does: one configuration of the application serves both.

Level and destination are the application's; `loguru.logger.disable("hotmem")` silences all of it. A
message is an event and its fields, `recall items=3 tokens=120`; sinks that keep records find them
in `record["extra"]`. Fields are ids, counts and times: speech and memory text never are.
"""

from typing import Final

from loguru import logger

from hotmem.text.escaping import logged


class Log:
    """Events with fields, told of the module that calls."""

    def info(self, event: str, **fields: object) -> None:
        """Logs what is as it should be."""
        _log("INFO", event, fields)

    def warning(self, event: str, **fields: object) -> None:
        """Logs what costs something and breaks nothing."""
        _log("WARNING", event, fields)

    def error(self, event: str, **fields: object) -> None:
        """Logs what has failed."""
        _log("ERROR", event, fields)


log: Final = Log()


def _log(level: str, event: str, fields: dict[str, object]) -> None:
    message = " ".join(
        (event, *(f"{name}={logged(value)}" for name, value in fields.items() if value is not None))
    )
    logger.bind(event=event, **fields).opt(depth=2).log(level, message)
