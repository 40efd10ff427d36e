"""Phonetic distance of names, for the spelling errors of speech recognition.

A recogniser writes a name that it does not know as words of English that sound like it: "key for"
for "Keeva". What was heard is therefore read as English; a known name is read as English and by the
spelling rules of other languages, so that "chevon" is near "Siobhan". A reading is an English
respelling and its Metaphone key (Philips 1990), in which B is the only voiced consonant, X stands
for "sh", 0 for "th" and A for a vowel at the beginning.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple
from unicodedata import combining, normalize

from jellyfish import jaro_winkler_similarity, metaphone

SPELLING_WEIGHT: Final = 0.5
"""Weight of the spelling (1 - Jaro-Winkler) against the consonants in `sound_distance`."""

_MIN_LENGTH: Final = 2.0
"""Consonants that a short name counts as, so that one edit in it is not a whole difference."""

_DIFFERENT_ENDING: Final = 0.3
"""Distance that "-a" against "-o" adds: Maria is not Mario."""

_Rules = Sequence[tuple[re.Pattern[str], str]]


class Reading(NamedTuple):
    """A pronunciation of a name.

    Attributes:
        letters: An English respelling, without spaces.
        key: Its Metaphone key, without vowels except at the beginning.
    """

    letters: str
    key: str


class KnownName(NamedTuple):
    """A known name.

    Attributes:
        name: The name.
        sounds: Its pronunciations, see `encode_sounds`.
    """

    name: str
    sounds: str


def _rules(*pairs: tuple[str, str]) -> _Rules:
    return tuple((re.compile(pattern), replacement) for pattern, replacement in pairs)


_SPELLINGS: Final[Sequence[_Rules]] = (
    _rules(  # Irish and Scottish Gaelic
        (r"[bm]h", "v"),
        (r"^[dg]h", "g"),
        (r"[dg]h(?=$|[^aeiou])", ""),
        (r"(?<=[aeiou])[dg]h(?=[aeiou])", "y"),
        (r"fh|(?<=[aeiou])th(?=$|[^aeiou])", ""),
        (r"th", "h"),
        (r"s(?=[ei])|(?<=[ei])s(?=$|[^aeiou])|(?<=i)s(?=[aeiou])|(?<=ir)s", "sh"),
        (r"ao[ie]?", "ee"),
        (r"([cg])(?=[ei])", "k"),
        (r"e$", "a"),
    ),
    _rules((r"([ptk])h", r"\1")),  # Bantu languages
    _rules((r"^ng(?=[aeiou])", "n"), (r"nh", "n"), (r"^x", "s"), (r"ph", "f")),  # Vietnamese
    _rules(  # Welsh
        (r"dd", "th"),
        (r"(?<!f)f(?!f)", "v"),
        (r"ff", "f"),
        (r"ll", "l"),
        (r"rh", "r"),
        (r"(?<![aeiou])w(?![aeiouy])", "oo"),
        (r"c|g(?=[eiy])", "k"),
        (r"si(?=[aou])", "sh"),
    ),
    _rules(  # Polish, Czech, Croatian
        (r"sz|rz", "sh"),
        (r"cz", "ch"),
        (r"[sz]i(?=[aou])", "sh"),
        (r"ci(?=[aou])", "ch"),
        (r"([lndt])j", r"\1y"),
        (r"j", "y"),
        (r"w", "v"),
        (r"ch", "h"),
        (r"c(?![hk])", "ts"),
        (r"g(?=[eiy])", "k"),
    ),
    _rules(  # Hungarian
        (r"(?<!z)s(?!z)", "sh"),
        (r"sz", "s"),
        (r"zs", "zh"),
        (r"cs", "ch"),
        (r"gy", "dy"),
        (r"ly|j", "y"),
        (r"c(?!h)", "ts"),
    ),
    _rules(  # German, Dutch, Scandinavian
        (r"th", "t"),
        (r"ij", "y"),
        (r"sch", "sh"),
        (r"j", "y"),
        (r"(?<![aeiou])w", "v"),
        (r"^v", "f"),
        (r"g(?=[eiy])", "k"),
        (r"tz|z", "ts"),
        (r"e$", "a"),
    ),
    _rules(  # French
        (r"(?<=[aeiou])(?:lt|ld|x|s|t|d|z)$", ""),
        (r"ch", "sh"),
        (r"th", "t"),
        (r"g(?=[ei])|j", "zh"),
        (r"gu(?=[ei])|gh", "k"),
        (r"(?<=i)s(?=l)", ""),
        (r"ill(?=[aeiou])", "iy"),
        (r"^h", ""),
        (r"ou(?=[aei])", "w"),
    ),
    _rules(  # Spanish, Portuguese
        (r"^h", ""),
        (r"j|^x|g(?=[ei])", "h"),
        (r"ll", "y"),
        (r"qu(?=[ei])", "k"),
        (r"nh", "ny"),
        (r"lh", "ly"),
        (r"z", "s"),
    ),
)

_TITLES: Final = {
    "mrs": "misses",
    "mr": "mister",
    "ms": "miz",
    "dr": "doctor",
    "st": "saint",
    "prof": "professor",
}
_WORD: Final = re.compile(r"[^\W\d_]+")
_VOWELS: Final = re.compile("[AEIOU ]")
_DOUBLED: Final = re.compile(r"(.)\1+")
_ALIKE: Final = str.maketrans("bdgvzycq", "ptkfsikk")
"""Letters that stand for like sounds."""

_ALIKE_GROUPS: Final = _rules(
    (r"c(?=[eiy])", "s"),
    (r"ck", "k"),
    (r"ph|gh(?=t)", "f"),
    (r"e[aey]", "i"),
    (r"oo|ou", "u"),
    (r"(?<=[^aeiou])[aeou]r$", "ə"),
    (r"(?<=[^aeiou])e$|(?<=i)r$", ""),
)
"""Groups of letters that stand for like sounds."""

_SUBSTITUTIONS: Final = {
    frozenset(pair): cost
    for cost, pairs in {
        0.25: "XJ SX",
        0.3: "BP F0 T0 WF YJ YA WA HA WH",
        0.4: "S0 TJ MN SJ",
        0.5: "BF PF TX LR KJ",
        0.6: "BT BW WP KX HK LW RW",
        0.7: "PT KT PK ST HF",
        0.8: "BK KS",
    }.items()
    for pair in pairs.split()
}
"""Costs of substituting sounds that are alike; 1 for all others."""

_INSERTIONS: Final = {"A": 0.3, "H": 0.2, "W": 0.35, "Y": 0.35, "R": 0.6, "T": 0.6, "N": 0.7} | {
    "L": 0.7
}
"""Costs of sounds that are weak or heard by mistake; 1 for all others."""

_FINAL_R: Final = 0.35
"""The cost of an R at the end, which many speakers of English do not say."""

_COARSE: Final = str.maketrans({"B": "P", "0": "T", "X": "S", "J": "S", "W": "F", "H": "", "Y": ""})


def read_heard(text: str) -> Reading:
    """The pronunciation of words of English."""
    return _reading(_words(text))


def read_name(name: str) -> list[Reading]:
    """The pronunciations of a name: the English one and those of other spelling rules."""
    words = _words(name)
    spelled = [words, *([_respelled(word, rules) for word in words] for rules in _SPELLINGS)]
    return list(dict.fromkeys(reading for reading in map(_reading, spelled) if reading.key))


def coarse_key(key: str) -> str:
    """A key without the differences that recognisers confuse most, to look for candidates."""
    coarse = _DOUBLED.sub(r"\1", key.translate(_COARSE))
    return coarse.removeprefix("A").removesuffix("R") or coarse or key


@lru_cache(maxsize=1024)
def encode_sounds(name: str) -> str:
    """The pronunciations of a name as stored with it: coarse keys, a bar, readings.

    Empty for a name without sounds: "SFN SPN|chevon/XFN shiovan/XFN".
    """
    readings = read_name(name)
    keys = dict.fromkeys(coarse_key(reading.key) for reading in readings)
    return f"{' '.join(keys)}|{' '.join(map('/'.join, readings))}" if readings else ""


def stored_keys(sounds: str) -> list[str]:
    """The coarse keys of stored pronunciations."""
    return sounds.partition("|")[0].split()


def stored_readings(sounds: str) -> list[Reading]:
    """The readings of stored pronunciations; none for a row of before they were stored."""
    return [Reading(*one.split("/")) for one in sounds.partition("|")[2].split()]


def sound_distance(heard: Reading, name: Iterable[Reading], limit: float = 9.0) -> float:
    """The phonetic distance of what was heard from a name.

    Args:
        heard: What was heard.
        name: The name's pronunciations, of which the nearest counts.
        limit: Distances above it need not be exact.

    Returns:
        0 for the same; up to 0.35 for what a recogniser may write for it; infinite without sounds.
    """
    return min((_distance(heard, reading, limit) for reading in name), default=float("inf"))


def _distance(one: Reading, other: Reading, limit: float) -> float:
    if not one.key or not other.key:
        return float("inf")
    spelling = SPELLING_WEIGHT * (1 - jaro_winkler_similarity(one.letters, other.letters))
    if {one.letters[-1], other.letters[-1]} == {"a", "o"}:
        spelling += _DIFFERENT_ENDING
    if spelling > limit:
        return spelling
    length = max(_MIN_LENGTH, (len(one.key) + len(other.key)) / 2)
    return spelling + _edits(one.key, other.key) / length


@lru_cache(maxsize=4096)
def _edits(one: str, other: str) -> float:
    """The weighted edit distance of two keys."""
    row = [0.0]
    for place in range(len(other)):
        row.append(row[-1] + _insertion(other, place))
    for index, sound in enumerate(one):
        deletion = _insertion(one, index)
        following = [row[0] + deletion]
        for place, wanted in enumerate(other):
            following.append(
                min(
                    row[place] + _substitution(sound, wanted),
                    row[place + 1] + deletion,
                    following[place] + _insertion(other, place),
                )
            )
        row = following
    return row[-1]


def _substitution(one: str, other: str) -> float:
    return 0.0 if one == other else _SUBSTITUTIONS.get(frozenset((one, other)), 1.0)


def _insertion(key: str, place: int) -> float:
    is_final_r = key[place] == "R" and place == len(key) - 1
    return _FINAL_R if is_final_r else _INSERTIONS.get(key[place], 1.0)


def _words(text: str) -> list[str]:
    letters = normalize("NFKD", text.casefold()).replace("'", "").replace("’", "")
    plain = "".join(letter for letter in letters if not combining(letter))
    return [_TITLES.get(word, word) for word in _WORD.findall(plain)]


def _respelled(word: str, rules: _Rules) -> str:
    for pattern, replacement in rules:
        word = pattern.sub(replacement, word)
    return word


def _reading(words: Sequence[str]) -> Reading:
    words = [word for word in words if word]
    letters = _respelled("".join(words), _ALIKE_GROUPS).translate(_ALIKE)
    key = ""
    for place, word in enumerate(words):
        sounds = _consonants(metaphone(word.replace("qu", "kw")))
        joined = place > 0 and words[place - 1][-1] not in "aiouy" and key[-1:] == sounds[:1]
        key += sounds.removeprefix("A") if key else sounds
        if joined and sounds:
            key = key[: -len(sounds)] + sounds[1:]
    return Reading(_DOUBLED.sub(r"\1", letters), key)


def _consonants(key: str) -> str:
    """A Metaphone key without vowels except at the beginning, where all are alike."""
    return _VOWELS.sub("A", key[:1].strip()) + _VOWELS.sub("", key[1:])
