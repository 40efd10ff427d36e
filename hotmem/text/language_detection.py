"""Tells the language of a short text by its script and its function words."""

import re
import unicodedata
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Final

from hotmem.text.languages import ENGLISH
from hotmem.text.stemming import words
from hotmem.text.word_sets import FUNCTION_WORDS, SHARED_WORDS, STOP_WORDS, wordlist

UNDETERMINED: Final = "und"
"""ISO 639-2's code of a language that is not known."""

MAX_CHARACTERS: Final = 1_000
"""Characters of a text that are looked at."""

MIN_MORE: Final = 4
"""How many more words of another language than of English suffice where English is expected, though
each may be part of a name."""

MIN_FOREIGN: Final = 2
"""Words of another language that are needed in any case."""

_ENGLISH_WORDS: Final = frozenset(
    word for word in STOP_WORDS if word.isascii() and word.isalpha() and word not in ("re", "ca")
) | wordlist(
    "don didn doesn isn wasn couldn won im ive id ll ve want wants like likes know think said told"
    " going went got getting need love hate yes yeah okay ok hi hello hey thanks thank please"
    " forget remember delete erase remove record recording memory off stop undo today tomorrow"
    " yesterday good great sorry let lets gonna wanna"
)

_OTHER_WORDS: Final = frozenset().union(*FUNCTION_WORDS.values())
"""Function words of any other language."""

_ELISION: Final = re.compile(r"(?<!\w)([cdjlmnst]|qu|all|dell|nell)['’](?=\w)", re.IGNORECASE)
"""A French or Italian word without its last vowel, before a word that begins with one."""

_LATIN: Final = re.compile(r"[a-z\u00c0-\u024f\u1e00-\u1eff]", re.IGNORECASE)
_LETTER: Final = re.compile(r"[^\W\d_]")
_KANA: Final = re.compile(r"[\u3041-\u30ff]")
_HAN: Final = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_ACCENTED: Final = re.compile(r"(?<!\w)[a-z]*[\u00df-\u024f\u1e00-\u1eff]\w*")
"""A word with an accent and a small first letter, as names in English sentences have none."""

_SMALL: Final = re.compile(r"(?<![\w'’])[^\W\d_A-Z]\w+")


def is_english(text: str, expected: str = ENGLISH) -> bool:
    """Whether a text is English; see `detect_language`."""
    return detect_language(text, expected) == ENGLISH


@lru_cache(maxsize=1024)
def detect_language(text: str, expected: str = ENGLISH) -> str:
    """The language of a text.

    A text without signs of any language is of the expected one. It takes more to find that a text
    is not English where English is expected, as names and single words of other languages occur in
    English sentences.

    Args:
        text: Any text.
        expected: The language that most texts are of.

    Returns:
        The ISO 639-1 code of the language, or `UNDETERMINED` if it is not English and nothing more
        is known.
    """
    text = text[:MAX_CHARACTERS]
    if not text.isascii() and len(_LATIN.findall(text)) * 2 < len(_LETTER.findall(text)):
        return _by_script(text, expected)
    found = {word for word in words(text) if len(word) > 1}
    found.update(elided.casefold() for elided in _ELISION.findall(text))
    accented = set(_ACCENTED.findall(unicodedata.normalize("NFC", text)))
    english = len(found & _ENGLISH_WORDS)
    most = len(found & _OTHER_WORDS | accented)
    if most < english or (most == english and expected == ENGLISH):
        return ENGLISH
    best, foreign = _best(found, accented, expected)
    if expected != ENGLISH:
        return ENGLISH if english > foreign else best if foreign else expected
    own = len(found & FUNCTION_WORDS[best] - SHARED_WORDS - _ENGLISH_WORDS)
    if foreign - english >= MIN_MORE:
        return best
    if foreign < MIN_FOREIGN or foreign <= english:
        return ENGLISH
    alone = not english and _has_other_word(text, found & FUNCTION_WORDS[best])
    return best if own or alone else ENGLISH


def _by_script(text: str, expected: str) -> str:
    """The language of a text in another script than the Latin one."""
    if _KANA.search(text):
        return "ja"
    if _HAN.search(text):
        return expected if expected in ("ja", "ko") else "zh"
    return UNDETERMINED if expected == ENGLISH else expected


def _best(found: AbstractSet[str], accented: AbstractSet[str], expected: str) -> tuple[str, int]:
    """The language other than English that has most of the words, and how many.

    A word with an accent counts, whatever the language.
    """
    counts = {code: len(found & known | accented) for code, known in FUNCTION_WORDS.items()}
    best = max(counts, key=lambda code: (counts[code], code == expected))
    return best, counts[best]


def _has_other_word(text: str, function_words: AbstractSet[str]) -> bool:
    """Whether a text has a word in small letters besides some, and so is more than a name."""
    return any(word not in function_words for word in _SMALL.findall(text))
