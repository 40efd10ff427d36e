"""Voice bots with HotMem: recorded speech, keyboard, microphone and browser.

`bot` builds their pipeline. The programs in `examples` are shorter, to copy.
"""

from loguru import logger

import hotmem  # noqa: F401 - before pipecat imports ONNX Runtime: disables its telemetry

logger.disable("pipecat")  # it logs on import; pipelines.logs enables it again
