"""Utterance → Analysis: intent, complexity, names, time, and what it leaves unsaid."""

from hotmem.analysis.query import analyse
from hotmem.analysis.time import find_interval

__all__ = ["analyse", "find_interval"]
