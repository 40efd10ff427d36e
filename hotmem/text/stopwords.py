"""English stop words."""

from typing import Final

from hotmem.text.word_sets import word_sets

STOP_WORDS: Final = word_sets(__file__)["stop"]
"""spaCy's English list (MIT), copied because importing it would load spaCy."""
