"""Normalization of names, and search for whole names in a text.

"O'Brien" equals "O’Brien", "ANNA  MARIA" equals "Anna-Maria", "José" equals "Jose", "Strauß" equals
"Strauss", fullwidth "Max" equals "Max", a Cyrillic "о" among Latin letters equals "o"; invisible
characters are ignored. "Max" is not found in "Maxine" or "Climax"; it is found in "Max's", "M.A.X."
and "Max-Peter", and between Chinese characters. "Anna Lena" is found in "Annalena", "Dr. Miller" in
"Doctor Miller", "Müller" in "Mueller".

Scripts without spaces have no word boundaries: a name matches wherever its characters occur, except
in katakana, where it must be a whole run. A plural counts if it is written with a capital ("the
Millers"), as it cannot be distinguished from a common noun otherwise ("the bills" of Bill).
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from hotmem.text.phonetics import (
    KnownName,
    Reading,
    coarse_key,
    read_heard,
    read_name,
    sound_distance,
    stored_keys,
    stored_readings,
)
from hotmem.text.stemming import terms

NameFinder: TypeAlias = Callable[[str], bool]
"""Returns whether a text contains a name."""

_APOSTROPHES: Final = "'’‘‛ʼʻʽʹ′`´＇ˈꞌ՚\u05f3"
_HYPHENS: Final = "-‐‑‒–—―−﹣－⁃⁻"
_SAME: Final = str.maketrans(
    {
        **dict.fromkeys(_APOSTROPHES, "'"),
        **dict.fromkeys(_HYPHENS, " "),
        **dict.fromkeys("‧·･", "・"),
        "\u0345": "",  # an iota subscript, which is a letter of its own without case
    }
)
"""Applied before NFKC, which would split some of these into a space and a combining mark."""

_LETTERS: Final = str.maketrans(
    {"ı": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "ё": "е", "ـ": ""}
)
"""Letters without a Unicode decomposition that are often written without their stroke or dots, and
the Arabic elongation stroke."""

_LOOK_ALIKE: Final = str.maketrans(
    "АВЕЅІЈКМНОРСТХаеѕіјорсухһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορτυχ",
    "ABESIJKMHOPCTXaesijopcyxhdqwABEZHIKMNOPTYXaiknoptux",
)
"""Cyrillic and Greek letters that look like Latin ones, from Unicode's list of confusables."""

_MIXED: Final = re.compile(r"\b\w*(?:[A-Za-z][\u0370-\u052f]|[\u0370-\u052f][A-Za-z])\w*")
"""A word of both Latin and other letters, which nobody writes but to deceive."""

_BREAK: Final = "\u200b"
"""A zero-width space: ignored inside a word, a space between words."""

_JOINT: Final = r"(?:\. ?|[ _])?"
"""Separator of the parts of a name: "J. R. Smith", "J.R. Smith", "j.r.smith@example.org"; and
"JRSmith"."""

_TITLES: Final = {
    title: f"(?:{'|'.join(titles)})"
    for titles in (
        ("doctor", "dr"), ("professor", "prof"), ("mister", "mr"), ("missus", "missis", "mrs"),
        ("saint", "st"), ("father", "fr"), ("sergeant", "sgt"), ("captain", "capt"),
        ("reverend", "rev"), ("junior", "jr"), ("senior", "sr"),
    )
    for title in titles
}  # fmt: skip
"""Titles, and all spellings of each."""

_BEFORE_CONSONANT: Final = "(?=[bcdfghjklmnpqrstvwxz])"
_UMLAUT: Final = re.compile(f"[äöüÄÖÜ]{_BEFORE_CONSONANT}")
"""An umlaut, also written with an e: "Müller", "Mueller"."""

_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""Where a name may be written as two words: "MacDonald"."""

_INITIALS: Final = 4
"""Letters of the longest word that is also found as initials: "A.J.", "T-O-M"."""

_EDGES: Final = ' \t\n.,!?;:"“”„«»()[]'
_INVISIBLE: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180e\u3164\uffa0")
_UNMARKED: Final = ("LATIN", "GREEK", "HEBREW", "ARABIC")
"""Scripts whose diacritics are often omitted. In others a mark makes another letter."""

_OWN: Final = frozenset({("n", "\u0303"), ("a", "\u030a")})
"""Letters with a mark that are not variants: "Niña" is not "Nina", "Åsa" not "Asa"."""

_KATAKANA: Final = "\u30a0-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HANGUL: Final = "\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f"
_UNSPACED: Final = (
    "\u3040-\u309f\u3005\u3006\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"
)
"""Han, hiragana, Thai, Lao, Burmese, Khmer and Tibetan."""

_PARTICLE: Final = (
    "(?:씨|님|군|양)?(?:이?(?:한테서|에게서|한테|에게|께서|께|에서|으로|로|하고|이랑|랑"
    "|까지|부터|처럼|보다|은|는|이|가|을|를|의|에|와|과|도|만|야|아|여|네))?"
)
"""Korean particles, which follow a name without a space."""

_OTHER: Final = rf"[^\W{_KATAKANA}{_HANGUL}{_UNSPACED}]"
"""A letter or digit of a script with spaces between words."""


def normalize_name(text: str) -> str:
    """Normalize a text so that different spellings of the same words are equal."""
    if text.isascii():
        return " ".join(text.lower().replace("-", " ").replace("`", "'").split())
    text = unicodedata.normalize("NFD", text).translate(_SAME)
    text = unicodedata.normalize("NFKC", text).translate(_SAME)
    text = _MIXED.sub(lambda word: word[0].translate(_LOOK_ALIKE), text)
    text = "".join(character for character in text if not _is_invisible(character))
    text = unicodedata.normalize("NFKD", text.casefold())
    text = unicodedata.normalize("NFC", _unmarked(text)).translate(_LETTERS)
    return " ".join(text.split())


def name_finder(name: str) -> NameFinder:
    """Return a function that searches a text for a whole name.

    A name without visible characters is never found.
    """
    pattern = _pattern(name)
    return lambda text: (
        pattern is not None
        and any(
            match["plural"] is None or _has_capital(text, match[0])
            for form in {text, text.replace(_BREAK, " ")}
            for match in pattern.finditer(normalize_name(form))
        )
    )


def _has_capital(text: str, found: str) -> bool:
    """Whether the last word of what was found is written with a capital."""
    last = re.escape(found.split()[-1].strip("'"))
    return any(word[0][0].isupper() for word in re.finditer(last, text, re.IGNORECASE))


def split_unspaced(text: str) -> tuple[list[str], str]:
    """Separate the runs of scripts without word boundaries from the rest of a normalized text.

    Korean counts as one of them, because particles follow a name without a space.
    """
    text = normalize_name(text)
    return ([], text) if text.isascii() else (_RUN.findall(text), _RUN.sub(" ", text))


def whole_words(text: str) -> frozenset[str]:
    """The stems of a text's words, with runs of scripts without word boundaries as one word each.

    The stems are English whatever the text, so that they are equal wherever it is repeated.
    """
    runs, left = split_unspaced(text)
    return frozenset((*runs, *terms(left)))


_RUN: Final = re.compile(rf"[{_UNSPACED}]+|[{_KATAKANA}]+|[{_HANGUL}]+")


@lru_cache(maxsize=8)
def _pattern(name: str) -> re.Pattern[str] | None:
    name = _UMLAUT.sub(r"\g<0>e", name)
    wanted = normalize_name(name).strip(_EDGES) or normalize_name(name)
    if not wanted:
        return None
    parted = normalize_name(_CAMEL.sub(" ", name)).strip(_EDGES)
    words = re.split(r"(?<=\w)(?:\. ?| )(?=\w)", parted if len(parted) > len(wanted) else wanted)
    parts = [_TITLES.get(word) or _spellings(word) for word in words]
    if len(parts) > 1:  # "Dr. J. Okafor" of "Dr. Okafor", "S. Bauer" of "Sofia Bauer"
        first = re.escape(words[0][0])
        parts[0] += r"(?:\.? \w(?=\.))?" if words[0] in _TITLES else rf"|{first}(?=\.)"
    inner = _JOINT.join(f"(?:{part})" for part in parts)
    plural = "(?P<plural>e?s)?" if wanted[-1].isascii() else "(?P<plural>(?!))?"
    return re.compile(f"{_before(wanted[0])}{inner}{plural}{_after(wanted[-1])}")


def _spellings(word: str) -> str:
    """A pattern of one word of a name: apostrophes, umlauts and initials in all spellings."""
    letters = "".join(f"{letter}?" if letter == "'" else re.escape(letter) for letter in word)
    letters = re.sub(f"([aou])e{_BEFORE_CONSONANT}", r"\1e?", letters)
    if not (word.isascii() and word.isalpha() and 1 < len(word) <= _INITIALS):
        return letters
    return rf"(?:{letters}|{'[. -]{1,2}'.join(word)}\.?)"


def _before(first: str) -> str:
    """A look-behind for a name with this first character."""
    if re.match(rf"[{_UNSPACED}]", first):
        return ""
    for script in (_KATAKANA, _HANGUL):
        if re.match(f"[{script}]", first):
            return rf"(?<![{script}])"
    return rf"(?<!{_OTHER})"


def _after(last: str) -> str:
    """A look-ahead for a name with this last character."""
    if re.match(rf"[{_UNSPACED}]", last):
        return ""
    if re.match(f"[{_KATAKANA}]", last):
        return f"(?![{_KATAKANA}])"
    if re.match(f"[{_HANGUL}]", last):
        return rf"{_PARTICLE}(?![{_HANGUL}])"
    return rf"(?!{_OTHER})"


def _is_invisible(character: str) -> bool:
    return (
        unicodedata.category(character) == "Cf"
        or character in _INVISIBLE
        or "\ufe00" <= character <= "\ufe0f"
        or character >= "\U000e0100"
    )


def _unmarked(text: str) -> str:
    """Remove the diacritics on letters of the `_UNMARKED` scripts from a decomposed text."""
    kept: list[str] = []
    letter = ""
    for character in text:
        if not unicodedata.combining(character):
            letter = character
            kept.append(character)
        elif (letter, character) in _OWN or not unicodedata.name(
            letter or character, ""
        ).startswith(_UNMARKED):
            kept.append(character)
    return "".join(kept)


MAX_KEY_EDITS: Final = 0.4
"""Largest number of edits between coarse keys, per sound."""

EDITS_PER_DISTANCE: Final = 2.0
"""Edits between coarse keys, per sound, that a phonetic distance of 1 stands for at most."""

USUAL_NAMES: Final = 5
"""Number of known names for which the limits hold as they are."""

SHRINKAGE: Final = 2.0
"""How fast the limits shrink with the number of names.

The names within a distance by chance are as many as there are names times a power of the distance,
whose exponent grows with the sounds of the name. For them to stay as few, the limit of a name of
`s` sounds is divided by the number of names to the power of `SHRINKAGE / s`. Measured by
`python -m eval names`.
"""

NAMES_PER_RUN: Final = 0.5
"""Share of the names that count for a run of several words, which is rarely near one by chance."""

MAX_GROWTH: Final = 1.15
"""Largest factor by which the limits grow when there are fewer names."""

MIN_LIMIT: Final = 0.01
"""Limit below which even a name that sounds the same is found by chance."""


@dataclass(frozen=True, slots=True)
class SimilarName:
    """A known name that sounds like words of an utterance.

    Attributes:
        heard: The words.
        name: The name.
        distance: Phonetic distance.
    """

    heard: str
    name: str
    distance: float


def find_similar_names(
    runs: Mapping[str, float], known: Sequence[KnownName]
) -> tuple[SimilarName, ...]:
    """Find the known names that sound like a word run, nearest first.

    Runs that contain a known name as it is are left out. Takes some milliseconds for a sentence
    and 2,000 names.

    Args:
        runs: Words and word runs of an utterance, with the largest phonetic distance of a name.
        known: The names; of equally near ones the first comes first.
    """
    if not runs:
        return ()
    names = {one.name.casefold() for one in known}
    heard = [
        (run, limit, reading)
        for run, limit in runs.items()
        if not names & _parts(run.casefold()) and (reading := read_heard(run)).key
    ]
    found = [
        SimilarName(heard[row][0], one.name, distance)
        for row, one in _near(heard, known)
        if (distance := _nearest(*heard[row], one, len(known))) is not None
    ]
    return tuple(sorted(found, key=lambda one: one.distance))


def scaled_limit(limit: float, run: str, sounds: int, names: int) -> float:
    """The largest phonetic distance of one of several names.

    Args:
        limit: The largest distance from a word of one of `USUAL_NAMES`.
        run: The word or word run.
        sounds: Consonants of the name.
        names: Number of names.
    """
    count = names * (NAMES_PER_RUN if " " in run else 1)
    scale: float = (USUAL_NAMES / max(count, 1)) ** (SHRINKAGE / max(sounds, 1))
    return limit * min(scale, MAX_GROWTH)


def _nearest(run: str, limit: float, heard: Reading, one: KnownName, names: int) -> float | None:
    """The distance of a name if a reading of it is within the limit."""
    distances = []
    for reading in stored_readings(one.sounds) or read_name(one.name):
        most = scaled_limit(limit, run, len(reading.key.removeprefix("A")), names)
        if most >= MIN_LIMIT and (distance := sound_distance(heard, [reading], most)) <= most:
            distances.append(distance)
    return min(distances, default=None)


def _parts(run: str) -> set[str]:
    """The words of a run and all runs in it."""
    words = run.split()
    return {run} | {
        " ".join(words[start:stop])
        for start in range(len(words))
        for stop in range(start + 1, len(words) + 1)
    }


def _near(
    heard: Sequence[tuple[str, float, Reading]], known: Sequence[KnownName]
) -> Iterator[tuple[int, KnownName]]:
    """Yield the runs, by index, and names of which coarse keys are few edits apart."""
    if not heard:
        return
    rows: dict[str, list[int]] = defaultdict(list)
    edits: dict[str, int] = {}
    for row, (run, limit, reading) in enumerate(heard):
        key = coarse_key(reading.key)
        rows[key].append(row)
        edits[key] = max(edits.get(key, 0), _most_edits(key, limit, run, len(known)))
    keyed = [(one, stored_keys(one.sounds)) for one in known]
    similar = _similar_keys(edits, {key for _, keys in keyed for key in keys})
    for one, keys in keyed:
        if not similar.keys().isdisjoint(keys):
            ours = {key for theirs in keys for key in similar.get(theirs, ())}
            yield from ((row, one) for key in ours for row in rows[key])


def _most_edits(key: str, limit: float, run: str, names: int) -> int:
    """The most edits from a coarse key to that of a name within a limit."""
    most = scaled_limit(limit, run, len(key) + 2, names)
    share = min(most * EDITS_PER_DISTANCE, MAX_KEY_EDITS)
    return int(share * len(key) / (1 - share / 2))


def _similar_keys(edits: Mapping[str, int], keys: set[str]) -> dict[str, list[str]]:
    """For each of the keys those that are at most so many edits apart from it."""
    found = {key: [key] for key in edits.keys() & keys}
    theirs = list(keys)
    for most in set(edits.values()) - {0}:
        ours = [key for key, number in edits.items() if number == most]
        apart = cdist(ours, theirs, scorer=Levenshtein.distance, score_cutoff=most, dtype=np.uint8)
        for row, place in zip(*np.nonzero((apart > 0) & (apart <= most)), strict=True):
            found.setdefault(theirs[place], []).append(ours[row])
    return found
