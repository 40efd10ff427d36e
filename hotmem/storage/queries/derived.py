"""Columns derived from a passage's text for ranking, computed when it is stored."""

from hotmem.text.answer_types import answer_types
from hotmem.text.stemming import stems


def of(text: str, language: str) -> tuple[str, int]:
    """The distinct stems of a text, and its answer types, as two columns."""
    return " ".join(sorted(stems(text, language))), int(answer_types(text))


def read(terms: str) -> frozenset[str]:
    """The stems of a stored column."""
    return frozenset(terms.split())
