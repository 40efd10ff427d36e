"""Voice bots with HotMem.

Recorded speech (`replay`), keyboard (`chat`) and microphone (`local_mic`), all built by `bot`.
"""

from loguru import logger

import hotmem  # noqa: F401 - before pipecat imports ONNX Runtime: disables its telemetry

logger.disable("pipecat")  # it greets when imported; pipelines.logs turns it on again
