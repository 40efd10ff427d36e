"""HotMem in a pipecat pipeline: `HotMemProcessor`, placed between the user aggregator and the language model."""

from hotmem.pipecat.processor import HotMemProcessor

__all__ = ["HotMemProcessor"]
