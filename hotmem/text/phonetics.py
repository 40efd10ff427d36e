"""Names that sound alike: a recogniser writes "Patola" or "Bottola" for "Potola"."""

from collections.abc import Iterable
from typing import Final
from unicodedata import combining, normalize

from jellyfish import jaro_winkler_similarity, metaphone

MIN_SIMILARITY: Final = 0.75
"""Least likeness in spelling (Jaro-Winkler, 0 to 1) of two names with one sound: Paola and Paula
have 0.89, Paris and Boris 0.73."""

_ONE_SOUND: Final = str.maketrans("BDGVZ", "PTKFS")
"""Voiced consonants as voiceless ones: recognisers mix them up."""


def phonetic_key(name: str) -> str:
    """The consonants of a name (Metaphone, Philips 1990), voiced and voiceless alike, and whether it begins with a vowel."""
    letters = "".join(letter for letter in normalize("NFKD", name) if not combining(letter))
    key = metaphone(letters).replace(" ", "").translate(_ONE_SOUND)
    return f"A{key[1:]}" if key[:1] in set("AEIOU") else key


def similar_name(heard: str, names: Iterable[str]) -> str | None:
    """The name most like what was heard, of those with its sound; None if none is like enough."""
    wanted = phonetic_key(heard)
    alike = [
        (jaro_winkler_similarity(heard.casefold(), name.casefold()), name)
        for name in names
        if phonetic_key(name) == wanted
    ]
    likeness, name = max(alike, default=(0.0, ""))
    return name if likeness >= MIN_SIMILARITY else None
