"""Features of a statement's text: content words, participants, numbers, tense and modality."""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from hotmem.consolidation.equivalence.numbers import extract_numbers
from hotmem.consolidation.equivalence.vocabulary import DATES, FUNCTION_WORDS, PAST_FORMS, canonical
from hotmem.text.word_sets import wordlist

SPEAKER: Final = "speaker"
"""Canonical form of first-person words and "the user"."""

_SPEAKERS: Final = wordlist("i we me us")
_PHRASES: Final = tuple(
    (re.compile(pattern), plain)
    for pattern, plain in (
        (r"\bwon'?t\b", "will not"),
        (r"\b(?:can'?t|cannot)\b", "can not"),
        (r"\bdont\b", "do not"),
        (r"n't\b", " not"),
        (r"'m\b", " am"),
        (r"'re\b", " are"),
        (r"'ve\b", " have"),
        (r"'ll\b", " will"),
        (r"'d\b", " would"),
        (r"'s got\b", " has got"),
        (r"\b(?:the )?(?:user|speaker)(?:'s|s')\s(?=\w)", "my "),
        (r"\b(?:the )?(?:user|speaker)\b", "i"),
        (r"(?<=\d)\s*a\.?m\b\.?", " atam"),
        (r"(?<=\d)\s*p\.?m\b\.?", " atpm"),
        (r"(?<=\d),(?=\d{3}\b)", ""),
        (r"\b(?:noon|midday)\b", "12"),
        (
            r"\b(?:do|does|is|are) not work(?:ing)?\b|\b(?:is|are) out of (?:order|service)\b",
            "is broken",
        ),
        (r"\bcan not (?:stand|bear)\b|\b(?:do|does) not like\b", "hate"),
        (r"\b(?:is|am|are) (?:unable|not able) to\b", "can not"),
        (r"\bwould rather(?: have)?\b", "prefer"),
        (r"\bpass(?:ed|es)? away\b", "died"),
        (r"\bt(?:akes?|ook|aken) place\b", "be"),
        (r"\bg[eo]ts? together\b", "meet"),
        (r"\b(?:gave|given|gives?) up\b", "quit"),
        (r"\b(?:scared|afraid|frightened|terrified|fear) of\b", "fear"),
        (r"\bruns? out\b", "expire"),
        (r"\blook(?:s|ed|ing)? after\b", "mind"),
        (r"\bturned down\b", "rejected"),
        (
            (
                r"\b(?:at the moment|right now|currently|by the way|you know what"
                r"|just so you know|honestly|basically|actually|o'clock)\b"
            ),
            " ",
        ),
        (r"\bevery (?:other|two|second) weeks?\b", "fortnightly"),
        (r"\b(?:no longer|not any ?more)\b", "nolonger"),
        (r"(?<=\w)-in-law\b", "inlaw"),
    )
)
_AFTERNOON: Final = re.compile(r"\b(1[3-9]|2[0-3]):(\d\d)\b")
_FULL_HOUR: Final = re.compile(r"(?<=\d):00\b")
_WORDS: Final = re.compile(r"\w+")
_NAMES: Final = re.compile(r"(?<=[^\s.!?:] )[A-Z]\w+|(?<=\w-)[A-Z]\w+")
_NOT_NAMES: Final = FUNCTION_WORDS | DATES | {"user", "speaker", "bot"}
_AUXILIARIES: Final = wordlist(
    "be am is are was were been being get gets got getting have has had having"
)
_FRONTED: Final = wordlist(
    "on in at for with if when because to before after every during since until"
)
_NOT_PAST: Final = wordlist("need indeed speed bleed")
_NEGATION: Final = wordlist(
    "not no never without nobody none neither nor nothing nolonger avoid avoids forbid "
    "forbids forbidden skip skips"
)


class Qualifier(StrEnum):
    """A tense, modality or quantifier of a statement."""

    PAST = "past"
    PERFECT = "perfect"
    PROGRESSIVE = "progressive"
    INTENDED = "intended"
    OBLIGED = "obliged"
    ENDED = "ended"
    ONLY = "only"
    ALL = "all"
    SOME = "some"


_QUALIFIERS: Final = {
    Qualifier.INTENDED: re.compile(
        r"\bwant(?:s|ed)? to\b|\bwould\b|\bhop(?:e|es|ing) to\b|\bplan(?:s|ning)?\b|\bdream\b"
        r"|\bwish(?:es)?\b|\bgoing to (?!the\b)\w+|\bwill\b|"
        r"\bthinking (?:of|about)\b|\bintends?\b|\btry(?:ing)?\b|\bmight\b|\bmay (?!\d)\w"
        r"|\bcould\b|\b(?:perhaps|maybe|probably)\b"
    ),
    Qualifier.OBLIGED: re.compile(
        r"\bmust\b|\bha(?:ve|s) (?:got )?to\b|\bneeds? to\b|\bshould\b|\bought\b"
    ),
    Qualifier.ENDED: re.compile(
        r"\bnolonger\b|\bany ?more\b|\bused to\b|\bformer(?:ly)?\b|\bquit\b|\bstop(?:s"
        r"|ped)?\b|\bgone\b|\bended\b|\bcancel\w*\b"
    ),
    Qualifier.ONLY: re.compile(r"\b(?:only|just|solely|except|nobody)\b"),
    Qualifier.ALL: re.compile(
        r"\b(?:all|every|each|everyone|everything|always|any|both|whole|constantly)\b"
    ),
    Qualifier.SOME: re.compile(
        r"\b(?:some|sometimes|several|few|most|mostly|many|often|usually|occasionally|rarely"
        r"|seldom|almost|nearly|least)\b"
    ),
}


@dataclass(frozen=True, slots=True)
class StatementFeatures:
    """The features of a statement that comparison uses.

    Attributes:
        words: All words but numbers, in order, as `canonical` returns them; first-person words are
            `SPEAKER`.
        content: The content words among them.
        names: Capitalised words that do not begin a sentence.
        numbers: Its numbers; hours and minutes count separately.
        qualifiers: Its tense, modality and quantifiers.
        negations: Number of negating words.
        passive: Whether it may name an agent with "by".
        fronted: Whether it begins with an adverbial.
        linked: Whether it has an "and" or "or", whose order does not matter.
        equated: Whether it may equate two things.
    """

    words: tuple[str, ...]
    content: frozenset[str]
    names: frozenset[str]
    numbers: frozenset[int]
    qualifiers: frozenset[Qualifier]
    negations: int
    passive: bool
    fronted: bool
    linked: bool
    equated: bool


@lru_cache(maxsize=1024)
def statement_features(text: str) -> StatementFeatures:
    """Extract the features of a statement. Cached, as the same memories are compared repeatedly."""
    text = text.replace("’", "'")
    names = frozenset(
        canonical(name.lower()) for name in _NAMES.findall(text) if name.lower() not in _NOT_NAMES
    )
    normalized = _normalize(text)
    numbers, words = extract_numbers(_WORDS.findall(normalized))
    canonicals = tuple(SPEAKER if word in _SPEAKERS else canonical(word) for word in words)
    qualifiers = {one for one, pattern in _QUALIFIERS.items() if pattern.search(normalized)}
    return StatementFeatures(
        words=canonicals,
        content=frozenset(
            known
            for known, word in zip(canonicals, words, strict=True)
            if word not in FUNCTION_WORDS and word not in _NEGATION
        ),
        names=names.intersection(canonicals),
        numbers=numbers,
        qualifiers=frozenset(qualifiers | _tenses(words)),
        negations=sum(word in _NEGATION for word in words),
        passive="by" in words,
        fronted=bool(words) and words[0] in _FRONTED,
        linked="and" in words or "or" in words,
        equated=not {"is", "are", "was", "am"}.isdisjoint(words),
    )


def _normalize(text: str) -> str:
    """Lower-case a text; expand contractions; replace phrases, the user and afternoon hours."""
    normalized = _AFTERNOON.sub(
        lambda hour: f"{int(hour[1]) - 12}:{hour[2]} atpm", text.lower().rstrip(".!? ")
    )
    for pattern, plain in _PHRASES:
        normalized = pattern.sub(plain, normalized)
    return _FULL_HOUR.sub("", normalized).replace("'s", " ")


def _tenses(words: tuple[str, ...]) -> set[Qualifier]:
    """The tenses and aspects of a statement: past, perfect, progressive."""
    found = set()
    for place, word in enumerate(words):
        before = words[max(place - 3, 0) : place]
        if word in ("was", "were", "did", "had") or (
            word == "got" and not {"have", "has", "had"} & {*before}
        ):
            found.add(Qualifier.PAST)
        elif word in PAST_FORMS or (
            word.endswith("ed") and len(word) > 4 and word not in _NOT_PAST
        ):
            if not _AUXILIARIES & {*before}:
                found.add(Qualifier.PAST)
            elif {"have", "has"} & {*before}:
                found.add(Qualifier.PERFECT)
        elif word.endswith("ing") and {"am", "is", "are"} & {*before[-2:]}:
            found.add(Qualifier.PROGRESSIVE)
    return found
