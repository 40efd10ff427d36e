"""Logging of the pipelines to standard error."""

import sys

from loguru import logger


def configure_logs(*, verbose: bool) -> None:
    """Log warnings of HotMem and pipecat; with `verbose`, normal operation too.

    Debug messages are never logged, as pipecat's contain speech.
    """
    logger.enable("pipecat")
    logger.remove()
    logger.add(sys.stderr, level="INFO" if verbose else "WARNING")
