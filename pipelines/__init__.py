"""Voice bots with HotMem: recorded speech (`replay`), keyboard (`chat`) and microphone (`local_mic`), all built by `bot`."""

from loguru import logger

logger.disable("pipecat")  # it greets when imported; pipelines.logs turns it on again
