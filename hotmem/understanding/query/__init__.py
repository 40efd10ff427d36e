"""Utterance → Analysis: intent, complexity, names, time, and what it leaves unsaid."""

from hotmem.temporal import find_interval
from hotmem.understanding.query.analyzer import analyse

__all__ = ["analyse", "find_interval"]
