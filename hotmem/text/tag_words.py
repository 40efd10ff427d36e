"""Words that tags are compared by: abbreviations, spellings, and compounds that stay whole.

English, from general knowledge. In the singular and in lower case.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from hotmem.text.word_sets import wordlist

_WORDS: Final[Mapping[str, Any]] = json.loads(
    Path(__file__).with_suffix(".json").read_text("utf-8")
)

ABBREVIATIONS: Final[Mapping[str, str]] = _WORDS["abbreviations"]
"""Short forms, each with the long form that is the tag, and names with a dot."""

SPELLINGS: Final[Mapping[str, str]] = _WORDS["spellings"]
"""Spellings and everyday synonyms, each with the form that stands for both in comparisons; the tag
keeps the user's word. A phrase that stands for itself is not turned round at its preposition."""

IRREGULAR: Final[Mapping[str, str]] = _WORDS["irregular"]
"""Plurals with their singulars, and plurals that mean something else than their singular."""

COMPOUNDS: Final = wordlist(_WORDS["compounds"])
"""Pairs of words that together mean another thing than one alone: a tag is "ice cream", no "cream".

Both words in the singular, with a hyphen between them."""


SHORT: Final = 3
"""Letters of words that are compared as they are: "bus", "gas"."""

MAX_PHRASE_WORDS: Final = 3
"""Words of the longest abbreviation or spelling."""

_POSSESSIVE: Final = re.compile(r"['’]s\b|['’]")
_WORD: Final = re.compile(r"[^\W_]+(?:\.[^\W_]+)*[+#]*")
_PREPOSITIONS: Final = frozenset({"about", "at", "for", "from", "in", "of", "on", "to", "with"})
_DETERMINERS: Final = frozenset(
    {"a", "an", "her", "his", "its", "my", "our", "the", "their", "your"}
)
_PLURAL: Final = re.compile(r"(?<=[osxz])es$|(?<=[cs]h)es$|(?<=[^sui])s$")
_FINAL_E: Final = re.compile(r"(?<=[osxz])e$|(?<=[cs]h)e$")


@lru_cache(maxsize=8192)
def tag_key(tag: str) -> str:
    """The key of a tag: its words in one spelling, in the singular, and without spaces.

    "front end", "Front-End" and "frontend" have the same key, as have "JS" and "javascript", "tyre"
    and "tires", "mum's birthday" and "the birthday of my mother". A tag without words is its own
    key: "🎉".
    """
    words = _respelled(_WORD.findall(_POSSESSIVE.sub("", tag.casefold())))
    for place, word in enumerate(words[1:-1], 1):
        if word in _PREPOSITIONS:
            words = [*words[place + 1 :], *words[:place]]
            break
    words = [word for word in words if word not in _DETERMINERS] or words
    return "".join(words).replace(" ", "") or tag.casefold()


def long_form(tag: str) -> str:
    """The long form of a tag that is an abbreviation; any other tag as it is."""
    return ABBREVIATIONS.get(tag, tag)


def head(tag: str) -> str | None:
    """The last word of a tag of several words; None if they mean something only together."""
    words = tag.split()
    return None if len(words) < 2 or "-".join(words[-2:]) in COMPOUNDS else words[-1]


def _respelled(words: list[str]) -> list[str]:
    """The words in the singular and in one spelling; a phrase of the tables is one element."""
    words = [_singular(word) for word in words]
    found: list[str] = []
    place = 0
    while place < len(words):
        for length in range(MAX_PHRASE_WORDS, 0, -1):
            phrase = " ".join(words[place : place + length])
            if length == 1 or phrase in _FORMS:
                found.append(_FORMS.get(phrase, phrase))
                place += length
                break
    return found


def _singular(word: str) -> str:
    """The singular of a word, for comparisons alone: "hous" for "house" and "houses"."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if len(word) <= SHORT:
        return word
    if word.endswith(("ies", "ie")):
        return word.removesuffix("s").removesuffix("ie") + "y"
    return _FINAL_E.sub("", _PLURAL.sub("", word))


_FORMS: Final = {
    " ".join(map(_singular, form.split())): " ".join(map(_singular, other.split()))
    for form, other in {**ABBREVIATIONS, **SPELLINGS}.items()
}
