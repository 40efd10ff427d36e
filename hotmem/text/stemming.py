"""Terms of a text for search and comparison: case-folded, tokenized and stemmed words."""

import re
import unicodedata
from functools import lru_cache
from threading import Lock
from typing import Final

import Stemmer

from hotmem.text.stopwords import STOP_WORDS

MAX_WORD_CHARACTERS: Final = 64
"""Length to which words are cut."""

_WORD: Final = re.compile(r"[^\W_]+")

_stemmer: Final = Stemmer.Stemmer("porter")
_lock: Final = Lock()
"""The stemmer is not thread-safe."""


def terms(text: str) -> list[str]:
    """The stems of a text's words, in order, in lower case and without diacritics.

    The stemmer is Porter's (1980), in the Snowball implementation.
    """
    if not text.isascii():
        text = "".join(
            character
            for character in unicodedata.normalize("NFKD", text)
            if not unicodedata.combining(character)
        )
    return [stem(word[:MAX_WORD_CHARACTERS]) for word in _WORD.findall(text.casefold())]


@lru_cache(maxsize=8192)
def stems(text: str) -> frozenset[str]:
    """The distinct terms of a text."""
    return frozenset(terms(text))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a lower-case word."""
    with _lock:
        return str(_stemmer.stemWord(word)) or word


STOP_STEMS: Final = stems(" ".join(STOP_WORDS))
"""Stems of the stop words."""
