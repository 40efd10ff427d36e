"""How a statement is worded.

Its content, whom it is about, its figures, and in what manner it is told. All from the text alone.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from hotmem.consolidation.equivalence.numbers import figures
from hotmem.consolidation.equivalence.vocabulary import DATES, EMPTY, PAST, canonical
from hotmem.text.word_sets import wordlist

SPEAKER: Final = "speaker"
"""The word for whoever tells: "I", "we", "the user"."""

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
            r"\b(?:at the moment|right now|currently|by the way|you know what|just so you know|honestly|basically|actually|o'clock)\b",
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
_NO_NAMES: Final = EMPTY | DATES | {"user", "speaker", "bot"}
_AUXILIARIES: Final = wordlist(
    "be am is are was were been being get gets got getting have has had having"
)
_FRONTS: Final = wordlist(
    "on in at for with if when because to before after every during since until"
)
_NO_PAST: Final = wordlist("need indeed speed bleed")
_NEGATION: Final = wordlist(
    "not no never without nobody none neither nor nothing nolonger avoid avoids forbid forbids forbidden skip skips"
)


class Manner(StrEnum):
    """In what manner something is told."""

    PAST = "past"
    PERFECT = "perfect"
    DOING = "doing"
    WISHED = "wished"
    OBLIGED = "obliged"
    ENDED = "ended"
    ONLY = "only"
    ALL = "all"
    SOME = "some"


_MANNERS: Final = {
    Manner.WISHED: re.compile(
        r"\bwant(?:s|ed)? to\b|\bwould\b|\bhop(?:e|es|ing) to\b|\bplan(?:s|ning)?\b|\bdream\b|\bwish(?:es)?\b|\bgoing to (?!the\b)\w+|\bwill\b|"
        r"\bthinking (?:of|about)\b|\bintends?\b|\btry(?:ing)?\b|\bmight\b|\bmay (?!\d)\w|\bcould\b|\b(?:perhaps|maybe|probably)\b"
    ),
    Manner.OBLIGED: re.compile(
        r"\bmust\b|\bha(?:ve|s) (?:got )?to\b|\bneeds? to\b|\bshould\b|\bought\b"
    ),
    Manner.ENDED: re.compile(
        r"\bnolonger\b|\bany ?more\b|\bused to\b|\bformer(?:ly)?\b|\bquit\b|\bstop(?:s|ped)?\b|\bgone\b|\bended\b|\bcancel\w*\b"
    ),
    Manner.ONLY: re.compile(r"\b(?:only|just|solely|except|nobody)\b"),
    Manner.ALL: re.compile(
        r"\b(?:all|every|each|everyone|everything|always|any|both|whole|constantly)\b"
    ),
    Manner.SOME: re.compile(
        r"\b(?:some|sometimes|several|few|most|mostly|many|often|usually|occasionally|rarely|seldom|almost|nearly|least)\b"
    ),
}


@dataclass(frozen=True, slots=True)
class Wording:
    """A statement's wording.

    Attributes:
        words: All words but figures, in order, each as `canonical` gives it; the speaker's are all
            `SPEAKER`.
        content: Those that tell something by themselves.
        names: Capitalised words that do not begin a sentence.
        figures: Its numbers, hours and minutes.
        manners: How it is told.
        denials: Words that deny.
        passive: Whether it may name who does it after a "by".
        fronted: Whether it begins with a circumstance.
        linked: Whether it links things whose order tells nothing.
        equated: Whether it may equate two things.
    """

    words: tuple[str, ...]
    content: frozenset[str]
    names: frozenset[str]
    figures: frozenset[int]
    manners: frozenset[Manner]
    denials: int
    passive: bool
    fronted: bool
    linked: bool
    equated: bool


@lru_cache(maxsize=1024)
def wording(text: str) -> Wording:
    """How a text is worded; kept, as the same memories are compared again and again."""
    text = text.replace("’", "'")
    names = frozenset(
        canonical(name.lower()) for name in _NAMES.findall(text) if name.lower() not in _NO_NAMES
    )
    simple = _simple(text)
    found, words = figures(_WORDS.findall(simple))
    canonicals = tuple(SPEAKER if word in _SPEAKERS else canonical(word) for word in words)
    manners = {manner for manner, pattern in _MANNERS.items() if pattern.search(simple)}
    return Wording(
        words=canonicals,
        content=frozenset(
            known
            for known, word in zip(canonicals, words, strict=True)
            if word not in EMPTY and word not in _NEGATION
        ),
        names=names.intersection(canonicals),
        figures=found,
        manners=frozenset(manners | _times(words)),
        denials=sum(word in _NEGATION for word in words),
        passive="by" in words,
        fronted=bool(words) and words[0] in _FRONTS,
        linked="and" in words or "or" in words,
        equated=not {"is", "are", "was", "am"}.isdisjoint(words),
    )


def _simple(text: str) -> str:
    """Lower case, contractions in full, the user as "i", set phrases as one word, hours of the afternoon as the clock's face has them."""
    simple = _AFTERNOON.sub(
        lambda hour: f"{int(hour[1]) - 12}:{hour[2]} atpm", text.lower().rstrip(".!? ")
    )
    for pattern, plain in _PHRASES:
        simple = pattern.sub(plain, simple)
    return _FULL_HOUR.sub("", simple).replace("'s", " ")


def _times(words: tuple[str, ...]) -> set[Manner]:
    """Whether it is told as past, as done by now, or as being done."""
    found = set()
    for place, word in enumerate(words):
        before = words[max(place - 3, 0) : place]
        if word in ("was", "were", "did", "had") or (
            word == "got" and not {"have", "has", "had"} & {*before}
        ):
            found.add(Manner.PAST)
        elif word in PAST or (word.endswith("ed") and len(word) > 4 and word not in _NO_PAST):
            if not _AUXILIARIES & {*before}:
                found.add(Manner.PAST)
            elif {"have", "has"} & {*before}:
                found.add(Manner.PERFECT)
        elif word.endswith("ing") and {"am", "is", "are"} & {*before[-2:]}:
            found.add(Manner.DOING)
    return found
