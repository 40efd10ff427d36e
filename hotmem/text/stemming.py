"""Text → the terms it is found by and compared by: folded, cut into words, stemmed."""

import re
import unicodedata
from functools import lru_cache
from threading import Lock
from typing import Final

import Stemmer

from hotmem.text.stopwords import STOP_WORDS

MAX_WORD_CHARACTERS: Final = 64
"""Characters of a word that count; longer ones are addresses and noise."""

_WORD: Final = re.compile(r"[^\W_]+")

_stemmer: Final = Stemmer.Stemmer("porter")
_one_at_a_time: Final = Lock()
"""A stemmer keeps state of its own during a call."""


def terms(text: str) -> list[str]:
    """The stems of a text's words, in order.

    Lower case, without diacritics (Porter 1980, as Snowball has it).
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
    """The terms of a text, each once."""
    return frozenset(terms(text))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of one word, lower case."""
    with _one_at_a_time:
        return str(_stemmer.stemWord(word)) or word


STOP_STEMS: Final = stems(" ".join(STOP_WORDS))
"""Stems of words that tell nothing by themselves."""
