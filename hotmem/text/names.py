"""Normalization of names, and search for whole names in a text.

"O'Brien" equals "O’Brien", "ANNA  MARIA" equals "Anna-Maria", "José" equals "Jose", "Strauß" equals
"Strauss", fullwidth "Max" equals "Max"; invisible characters are ignored. "Max" is not found in
"Maxine" or "Climax"; it is found in "Max's", in "Max-Peter" and between Chinese characters.

Scripts without spaces have no word boundaries: a name matches wherever its characters occur, except
in katakana, where it must be a whole run. A plural ("the Millers") is another word, because it
cannot be distinguished from common nouns ("the bills" of Bill).
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final, TypeAlias

from hotmem.text.stemming import terms

NameFinder: TypeAlias = Callable[[str], bool]
"""Returns whether a text contains a name."""

_APOSTROPHES: Final = "'’‘‛ʼʻʽʹ′`´＇ˈꞌ՚\u05f3"
_HYPHENS: Final = "-‐‑‒–—―−﹣－⁃⁻"
_SAME: Final = str.maketrans(
    {
        **dict.fromkeys(_APOSTROPHES, "'"),
        **dict.fromkeys(_HYPHENS, " "),
        "‧": "・",
        "·": "・",
        "･": "・",
    }
)
"""Applied before NFKC, which would split some of these into a space and a combining mark."""

_LETTERS: Final = str.maketrans(
    {"ı": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "ё": "е", "ـ": ""}
)
"""Letters without a Unicode decomposition that are often written without their stroke or dots, and
the Arabic elongation stroke."""

_BREAK: Final = "\u200b"
"""A zero-width space: ignored inside a word, a space between words."""

_JOINT: Final = r"(?:\. ?|[ _])"
"""Separator of the parts of a name: "J. R. Smith", "J.R. Smith", "j.r.smith@example.org"."""

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
    text = unicodedata.normalize("NFKC", text.translate(_SAME)).translate(_SAME)
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
        any(pattern.search(form) for form in _forms(text)) if pattern is not None else False
    )


def is_same_name(one: str, other: str) -> bool:
    """Whether two spellings are of the same name."""
    return normalize_name(one).strip(_EDGES) == normalize_name(other).strip(_EDGES)


def is_visible_name(name: str) -> bool:
    """Whether a name has visible characters."""
    return bool(normalize_name(name))


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
    wanted = normalize_name(name).strip(_EDGES) or normalize_name(name)
    if not wanted:
        return None
    parts = map(re.escape, re.split(r"(?<=\w)(?:\. ?| )(?=\w)", wanted))
    return re.compile(_before(wanted[0]) + _JOINT.join(parts) + _after(wanted[-1]))


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


def _forms(text: str) -> Iterable[str]:
    """The normalized text, and with zero-width spaces as spaces if it has any."""
    yield normalize_name(text)
    if _BREAK in text:
        yield normalize_name(text.replace(_BREAK, " "))


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
