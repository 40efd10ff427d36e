"""What the pipelines log.

Warnings to standard error, everything on request. pipecat logs speech at its debug level, so that
stays off.
"""

import sys

from loguru import logger


def quiet(*, verbose: bool) -> None:
    """Sets level and destination of HotMem's and pipecat's logs."""
    logger.enable("pipecat")
    logger.remove()
    logger.add(sys.stderr, level="INFO" if verbose else "WARNING")
