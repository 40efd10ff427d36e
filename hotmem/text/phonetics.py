"""Phonetic matching of names, for the spelling errors of speech recognition."""

from collections.abc import Iterable
from typing import Final
from unicodedata import combining, normalize

from jellyfish import jaro_winkler_similarity, metaphone

MIN_SIMILARITY: Final = 0.75
"""Minimum Jaro-Winkler similarity (0 to 1) of the spellings of two names with the same key."""

_VOICELESS: Final = str.maketrans("BDGVZ", "PTKFS")
"""Voiced consonants and their voiceless counterparts, which speech recognition confuses."""


def phonetic_key(name: str) -> str:
    """The phonetic key of a name (Metaphone, Philips 1990), without voicing; "A" for any vowel."""
    letters = "".join(letter for letter in normalize("NFKD", name) if not combining(letter))
    key = metaphone(letters).replace(" ", "").translate(_VOICELESS)
    return f"A{key[1:]}" if key[:1] in set("AEIOU") else key


def similar_name(heard: str, names: Iterable[str]) -> str | None:
    """The name of the same key with the most similar spelling; None if none is similar enough."""
    wanted = phonetic_key(heard)
    candidates = [
        (jaro_winkler_similarity(heard.casefold(), name.casefold()), name)
        for name in names
        if phonetic_key(name) == wanted
    ]
    similarity, name = max(candidates, default=(0.0, ""))
    return name if similarity >= MIN_SIMILARITY else None
