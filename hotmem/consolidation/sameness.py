"""Whether two memories say the same: a logistic model over what they share and where they differ.

Cosines cannot tell. "I owe Paul fifty euros" and "Paul owes me fifty euros" are nearer to each other than most paraphrases are; what tells is
whether every word piece of the one finds its like in the other, and whether numbers, names and a "not" agree. The coefficients are fitted by
`python -m eval tools`.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.analysis.wordlist import wordlist
from hotmem.models import Reading
from hotmem.models.encoder import unit_rows
from hotmem.numbers import numbers
from hotmem.products import product
from hotmem.terms import STOPS, stems
from hotmem.text import plain

MERGES_FROM: Final = 0.78
"""Probability from which a memory that is stored again confirms the old one: of those merged at this point fewer than 5 in 100 are not the same."""

SUGGESTED_FROM: Final = 0.35
"""Probability from which a merge is suggested: it finds more than 80 in 100 of those that say the same."""

SIGNS: Final = (
    "cosine", "matched", "matched_back", "worst", "worst_back", "worst_three", "worst_three_back", "shared", "alone", "alone_back",
    "numbers_shared", "numbers_alone", "numbers_alone_back", "numbers_differ", "names_alone", "names_alone_back", "names_differ",
    "negation_differs", "past_differs", "change", "longer",
)  # fmt: skip
"""What the model looks at, in order; "back" is seen from the second statement."""

_WORDS: Final = re.compile(r"[\w'-]+")
_NAMES: Final = re.compile(r"(?<=\S )[A-Z][\w'-]+")
_NEGATION: Final = re.compile(
    r"\b(?:not|no|never|without|nobody|none|neither|cannot|nothing|stopped|stop|quit|cancelled|any ?more|no longer|hates?|dislikes?|avoids?)\b|n't\b",
    re.IGNORECASE,
)
_PAST: Final = re.compile(r"\b(?:was|were|had|used to|did|went|got|\w{2,}ed)\b", re.IGNORECASE)
_CHANGE: Final = re.compile(
    r"\b(?:now|moved|changed|instead|renamed|switched|new|extended|closed|cancelled|any ?more|from now|again|sold|replaced|postponed|became)\b",
    re.IGNORECASE,
)
_SELF: Final = wordlist("i i'm i've i'd i'll")


@dataclass(frozen=True, slots=True)
class Sayings:
    """Two statements and how the encoder reads them."""

    one: str
    other: str
    one_read: Reading
    other_read: Reading


def same(sayings: Sayings) -> float:
    """Probability, 0 to 1, that both say the same, so that nothing is lost if only one is kept; 1 if they are the same words."""
    if plain(sayings.one) == plain(sayings.other):
        return 1.0
    intercept, coefficients = _fitted()
    return float(0.5 * (1 + np.tanh((intercept + np.vecdot(signs(sayings), coefficients)) / 2)))


def signs(sayings: Sayings) -> NDArray[np.float64]:
    """What the model sees of a pair, float64 (len(SIGNS),)."""
    one, other = (text.replace("’", "'") for text in (sayings.one, sayings.other))
    forth, back = _matches(sayings.one_read, sayings.other_read)
    told, other_told = numbers(one), numbers(other)
    names, other_names = _names(one) - _words(other), _names(other) - _words(one)
    held, other_held = stems(one) - STOPS, stems(other) - STOPS
    seen = {
        "cosine": float(np.vecdot(sayings.one_read.row, sayings.other_read.row)),
        "matched": forth.mean(),
        "matched_back": back.mean(),
        "worst": forth[0],
        "worst_back": back[0],
        "worst_three": forth[:3].mean(),
        "worst_three_back": back[:3].mean(),
        "shared": len(held & other_held) / max(len(held | other_held), 1),
        "alone": len(held - other_held) / max(len(held), 1),
        "alone_back": len(other_held - held) / max(len(other_held), 1),
        "numbers_shared": len(told & other_told),
        "numbers_alone": len(told - other_told),
        "numbers_alone_back": len(other_told - told),
        "numbers_differ": bool(told - other_told and other_told - told),
        "names_alone": len(names),
        "names_alone_back": len(other_names),
        "names_differ": bool(names and other_names),
        "negation_differs": bool(_NEGATION.search(one)) != bool(_NEGATION.search(other)),
        "past_differs": bool(_PAST.search(one)) != bool(_PAST.search(other)),
        "change": bool(_CHANGE.search(other)) and not _CHANGE.search(one),
        "longer": np.log(len(other) / len(one)),
    }
    return np.array([float(seen[name]) for name in SIGNS])


def _matches(one: Reading, other: Reading) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Each piece's best cosine in the other statement, the worst first; 0 where one has no pieces."""
    if not len(one.states) or not len(other.states):
        return np.zeros(1, dtype=np.float32), np.zeros(1, dtype=np.float32)
    cosines = product(unit_rows(one.states), unit_rows(other.states).T)
    return np.sort(cosines.max(axis=1)), np.sort(cosines.max(axis=0))


def _words(text: str) -> frozenset[str]:
    return frozenset(word.removesuffix("'s") for word in _WORDS.findall(text.lower()))


def _names(text: str) -> frozenset[str]:
    """Capitalised words that do not begin the statement."""
    return frozenset(name.lower().removesuffix("'s") for name in _NAMES.findall(text) if name.lower() not in _SELF)


@cache
def _fitted() -> tuple[float, NDArray[np.float64]]:
    data = json.loads(files("hotmem.consolidation").joinpath("sameness.json").read_text("utf-8"))
    return float(data["intercept"]), np.array([data[name] for name in SIGNS])
