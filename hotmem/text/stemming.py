"""Terms of a text for search and comparison: case-folded, tokenized and stemmed words."""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise
from threading import Lock
from typing import Final

import Stemmer

from hotmem.text.languages import ENGLISH, STEMMERS
from hotmem.text.word_sets import STOP_WORDS

MAX_WORD_CHARACTERS: Final = 64
"""Length to which words are cut."""

_DIACRITICS: Final = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
"""Combining marks that a word is still understood without: accents, and the vowels of Hebrew and
Arabic. Those of Indic scripts and of Thai are letters, and the voicing of kana is one."""

_INDIC: Final = "\u0900-\u0963\u0966-\u0dff"
_THAI_TO_KHMER: Final = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0ed9\u1000-\u1049\u1780-\u17d3"
_HAN: Final = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_HIRAGANA: Final = "\u3041-\u3096\u309d\u309e"
_KATAKANA: Final = "\u30a1-\u30fa\u30fc-\u30fe\u31f0-\u31ff"
_HANGUL: Final = "\uac00-\ud7a3"

_WORD: Final = re.compile(rf"(?:[^\W_]|[{_DIACRITICS}{_INDIC}{_THAI_TO_KHMER}])+")
_DIACRITIC: Final = re.compile(f"[{_DIACRITICS}]")
_UNSPACED: Final = re.compile(
    rf"(?P<spaced>[^{_HAN}{_HIRAGANA}{_KATAKANA}{_HANGUL}{_THAI_TO_KHMER}]+)"
    rf"|[{_HAN}]+|[{_HIRAGANA}]+|[{_KATAKANA}]+|[{_HANGUL}]+|[{_THAI_TO_KHMER}]+"
)
"""Parts of a word: what is written with spaces, and runs of each script that is not, or whose words
take endings that no stemmer removes (Korean)."""

_lock: Final = Lock()
"""The stemmers are not thread-safe."""


def terms(text: str, language: str = ENGLISH) -> list[str]:
    """The stems of a text's words, in order, in lower case and without diacritics.

    The stemmers are Snowball's; that of English is Porter's (1980). Text that is written without
    spaces is cut into pairs of characters.

    Args:
        text: Any text.
        language: The language whose rules stem the words, one of `LANGUAGES`.
    """
    return [
        stemmed
        for word in words(text, keep_diacritics=language != ENGLISH)
        if (stemmed := stem(word[:MAX_WORD_CHARACTERS], language))
    ]


def words(text: str, *, keep_diacritics: bool = True) -> list[str]:
    """The words of a text in order, in lower case; pairs of characters where it has no spaces."""
    if text.isascii():
        return _WORD.findall(text.casefold())
    text = unicodedata.normalize("NFKC", text) if keep_diacritics else _without_diacritics(text)
    return [part for word in _WORD.findall(text.casefold()) for part in _parts(word)]


def _without_diacritics(text: str) -> str:
    bare = _DIACRITIC.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", bare)


def _parts(word: str) -> Iterator[str]:
    """A word, or the pairs of characters of its unspaced parts; a single character stays."""
    if word.isascii():
        yield word
        return
    for part in _UNSPACED.finditer(word):
        run = part[0]
        if part["spaced"] or len(run) == 1:
            yield run
        else:
            yield from map("".join, pairwise(run))


@lru_cache(maxsize=8192)
def stems(text: str, language: str = ENGLISH) -> frozenset[str]:
    """The distinct terms of a text."""
    return frozenset(terms(text, language))


@lru_cache(maxsize=65_536)
def stem(word: str, language: str = ENGLISH) -> str:
    """The stem of a lower-case word, without diacritics."""
    name = STEMMERS.get(language)
    if name is not None:
        with _lock:
            word = str(_stemmer(name).stemWord(word)) or word
    return word if word.isascii() or language == ENGLISH else _without_diacritics(word)


@cache
def _stemmer(name: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(name)


STOP_STEMS: Final = stems(" ".join(STOP_WORDS))
"""Stems of the stop words."""
