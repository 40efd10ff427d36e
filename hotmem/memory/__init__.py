"""`Memory`, the door to everything, and the objects that it holds."""

from hotmem.memory.memory import Memory

__all__ = ["Memory"]
