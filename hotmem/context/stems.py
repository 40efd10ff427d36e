"""Words as the ranking compares them: in lower case, without their endings."""

import re
from functools import lru_cache
from threading import Lock
from typing import Final

import Stemmer

_WORD: Final = re.compile(r"\w+")
_stemmer: Final = Stemmer.Stemmer("english")
_one_at_a_time: Final = Lock()
"""A stemmer is not safe between threads, and recalls are composed in several."""


@lru_cache(maxsize=8192)
def stems(text: str) -> frozenset[str]:
    """The stems of a text's words (Porter's second algorithm, as Snowball has it)."""
    with _one_at_a_time:
        return frozenset(_stemmer.stemWords(_WORD.findall(text.casefold())))
