"""Pipecat's `run_test` with a start that a busy machine can keep.

By itself it gives a pipeline one second to start, and one that is later is left running, which
blocks the end of the test.
"""

from functools import partial
from typing import Final

from pipecat.tests.utils import run_test as pipecat_run_test

START_TIMEOUT_S: Final = 60.0

run_test: Final = partial(pipecat_run_test, start_timeout=START_TIMEOUT_S)
