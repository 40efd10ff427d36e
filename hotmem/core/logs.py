"""Logging through loguru, as pipecat does, so that one configuration serves both; no telemetry.

The application sets level and destination; `loguru.logger.disable("hotmem")` silences the package.
A message is an event and its fields, `recall finished items=3 tokens=120`; structured sinks find
them in `record["extra"]`. Fields are ids, counts and times, never user text.

ONNX Runtime reads the switch of its telemetry once, on import. From version 1.29 on it then stores
a device id in the user's cache folder, queues events there and resolves its vendor's host;
`disable_telemetry_events()` is too late.
"""

import os
import sys
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


ONNX_RUNTIME: Final = "ORT_DISABLE_TELEMETRY"

SWITCHES: Final = (
    ONNX_RUNTIME,
    # huggingface-hub, and with it transformers and sentence-transformers
    "HF_HUB_DISABLE_TELEMETRY",
)
"""Environment variables that disable telemetry when set to 1."""


def disable_telemetry() -> None:
    """Set every switch not yet in the environment, for this process and its children."""
    if "onnxruntime" in sys.modules and ONNX_RUNTIME not in os.environ:
        log.warning(
            "onnxruntime was imported before hotmem, with its telemetry on: "
            f"import hotmem first, or set {ONNX_RUNTIME}=1"
        )
    for name in SWITCHES:
        os.environ.setdefault(name, "1")
