"""Turn → Understanding: what a speaker states of themselves and theirs, read from dependency parses without a language model."""

from hotmem.extraction.reading import understand, understand_said

__all__ = ["understand", "understand_said"]
