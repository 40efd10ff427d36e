"""Query understanding: utterance → Analysis."""

from hotmem.temporal import find_interval
from hotmem.understanding.query.analyzer import analyse

__all__ = ["analyse", "find_interval"]
