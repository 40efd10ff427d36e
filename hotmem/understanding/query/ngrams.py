"""Word runs of an utterance, under which the user's own entities are looked up whatever their case."""

import re
from typing import Final

MAX_WORDS: Final = 3
"""Words of the longest name looked up."""

_WORD: Final = re.compile(r"[\w&.'’-]*\w")
_POSSESSIVE: Final = re.compile(r"['’]s?(?!\w)")


def word_ngrams(text: str) -> tuple[str, ...]:
    """Every run of one to three words, possessive endings taken off, once each."""
    words = _WORD.findall(_POSSESSIVE.sub("", text))
    runs = (
        " ".join(words[start : start + size])
        for size in range(1, MAX_WORDS + 1)
        for start in range(len(words) - size + 1)
    )
    return tuple(dict.fromkeys(runs))
