"""Voice bots with HotMem: recorded speech, keyboard, microphone, browser, hosted services.

`bot` builds the pipeline of `replay`, `chat`, `local_mic` and `browser`; `quickstart` has its own.
"""

from loguru import logger

import hotmem  # noqa: F401 - before pipecat imports ONNX Runtime: disables its telemetry

logger.disable("pipecat")  # it logs on import; pipelines.logs enables it again
