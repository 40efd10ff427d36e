"""An utterance as commands are looked for in it.

Words in lower case without hesitations, and where a sentence or a part of one ends.
"""

import re
from typing import Final

END: Final = "|"
"""Stands where there was punctuation, as a word of its own, and at the end."""

_APOSTROPHE: Final = re.compile(r"['’ʼ]")
_TOKEN: Final = re.compile(r"\w+(?:-\w+)*%?|[.?!,;:…—–()]+|(?<!\w)-+(?!\w)")
_HESITATIONS: Final = frozenset(
    {"um", "umm", "uh", "uhm", "uhh", "er", "erm", "err", "hmm", "hm", "mm", "mhm", "ah", "eh"}
)
_HESITATION: Final = re.compile(
    rf"\b(?:{'|'.join(sorted(_HESITATIONS, key=len, reverse=True))})\b[\s,.…]*", re.IGNORECASE
)


def without_hesitations(text: str) -> str:
    """The words as they stand, without hesitations."""
    return _HESITATION.sub("", text).strip()


def normalize(text: str) -> str:
    """The words with single spaces, apostrophes left out, `END` for punctuation and at the end.

    "Um, don't." is "dont |".
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
