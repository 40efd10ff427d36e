"""Turn → Understanding.

What a speaker states of themselves and theirs, read from dependency parses without a language
model.
"""

from hotmem.understanding.facts.pipeline import extract_facts, extract_from_parse

__all__ = ["extract_facts", "extract_from_parse"]
