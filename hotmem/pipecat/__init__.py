"""HotMem in a pipecat pipeline: `HotMemProcessor`, between the user aggregator and the LLM."""

from importlib.util import find_spec

from hotmem.errors import ExtraMissing

if find_spec("pipecat") is None:
    raise ExtraMissing('pipecat is not installed. Run: pip install "pipecat-hotmem[pipecat]"')

from hotmem.pipecat.processor import HotMemProcessor

__all__ = ["HotMemProcessor"]
