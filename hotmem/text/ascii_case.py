"""Case folding of ASCII letters only, as `lower` does in SQL."""

import string
from typing import Final

_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def ascii_lower(text: str) -> str:
    """The text with A to Z in lower case, and every other character as it is."""
    return text.translate(_LOWER)
