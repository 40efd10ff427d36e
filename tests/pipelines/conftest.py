"""Commands set up logging for their whole process; here the next test gets it back as it was at first."""

import sys
from collections.abc import Iterator

import pytest
from loguru import logger


@pytest.fixture(autouse=True)
def logs_as_before() -> Iterator[None]:
    yield
    logger.remove()
    logger.add(sys.stderr)
