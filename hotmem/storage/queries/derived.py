"""What the ranking asks of a passage's words, worked out when it is stored.

Read back it costs a tenth.
"""

from hotmem.text.answer_types import answer_types
from hotmem.text.stemming import stems


def of(text: str) -> tuple[str, int]:
    """The stems of a text, each once, and its forms, as two columns."""
    return " ".join(sorted(stems(text))), int(answer_types(text))


def read(terms: str) -> frozenset[str]:
    """The stems of a stored column."""
    return frozenset(terms.split())
