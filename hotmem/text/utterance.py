"""Normalisation of utterances for pattern matching, and case folding as `lower` does in SQL."""

import re
import string
from typing import Final

END: Final = "|"
"""The word that replaces punctuation, and ends every normalised utterance."""

_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_APOSTROPHE: Final = re.compile(r"['’ʼ]")
_TOKEN: Final = re.compile(r"\w+(?:-\w+)*%?|[.?!,;:…—–()]+|(?<!\w)-+(?!\w)")
_HESITATIONS: Final = frozenset(
    {"um", "umm", "uh", "uhm", "uhh", "er", "erm", "err", "hmm", "hm", "mm", "mhm", "ah", "eh"}
)


def normalize(text: str) -> str:
    """Normalise an utterance: "Um, don't." becomes "dont |".

    The result is in lower case with single spaces, without hesitations and apostrophes, and with
    `END` for punctuation and at the end.
    """
    found = [
        token if token[0].isalnum() else END
        for token in _TOKEN.findall(_APOSTROPHE.sub("", text).casefold())
    ]
    spoken = [token for token in found if token not in _HESITATIONS]
    kept = [
        token
        for place, token in enumerate(spoken)
        if token != END or (place and spoken[place - 1] != END)
    ]
    return " ".join([*(kept[:-1] if kept and kept[-1] == END else kept), END])


def ascii_lower(text: str) -> str:
    """The text with A to Z in lower case, and every other character as it is."""
    return text.translate(_LOWER)
