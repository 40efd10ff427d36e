"""What the pipelines log: warnings to standard error, everything on request. pipecat logs speech at its debug level, so that stays off."""

import logging
import sys

import structlog
from loguru import logger


def quiet(*, verbose: bool) -> None:
    """Sets the level of HotMem's and pipecat's logs."""
    level = logging.INFO if verbose else logging.WARNING
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    logger.enable("pipecat")
    logger.remove()
    logger.add(sys.stderr, level=level)
