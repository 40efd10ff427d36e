"""Turn → Understanding: what a speaker states of themselves and theirs, read from dependency parses without a language model."""

from hotmem.extraction.reading import understand

__all__ = ["understand"]
