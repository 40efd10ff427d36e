"""Turn → Understanding.

What a speaker states of themselves and theirs, read from dependency parses without a language
model.
"""

from hotmem.understanding.facts.pipeline import understand, understand_said

__all__ = ["understand", "understand_said"]
