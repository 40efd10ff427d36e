"""Word n-grams of an utterance, to look up stored entities in any letter case."""

import re
from typing import Final

MAX_WORDS: Final = 3
"""Length of the longest n-gram."""

_WORD: Final = re.compile(r"[\w&.'’-]*\w")
_POSSESSIVE: Final = re.compile(r"['’]s?(?!\w)")


def word_ngrams(text: str) -> tuple[str, ...]:
    """Every n-gram of one to `MAX_WORDS` words, without possessive endings and duplicates."""
    words = _WORD.findall(_POSSESSIVE.sub("", text))
    runs = (
        " ".join(words[start : start + size])
        for size in range(1, MAX_WORDS + 1)
        for start in range(len(words) - size + 1)
    )
    return tuple(dict.fromkeys(runs))
