"""What the ranking asks of a passage's words, worked out when it is stored: read back it costs a tenth."""

from hotmem.forms import forms
from hotmem.terms import stems


def of(text: str) -> tuple[str, int]:
    """The stems of a text, each once, and its forms, as two columns."""
    return " ".join(sorted(stems(text))), int(forms(text))


def read(terms: str) -> frozenset[str]:
    """The stems of a stored column."""
    return frozenset(terms.split())
