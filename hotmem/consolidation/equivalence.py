"""Statement equivalence: whether two memories say the same.

text ─▶ numbers ─▶ features ─┐
text ─▶ numbers ─▶ features ─┴▶ differences ─▶ model ─▶ probability
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.text.numerals import PLURALS, Numeral, parse_below_hundred, parse_digits, parse_numeral
from hotmem.text.stemming import stem
from hotmem.text.word_sets import wordlist
from hotmem.understanding.lexicon import ANIMATE

_TABLE: Final = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


IRREGULAR_FORMS: Final = {
    form: base for base, *forms in map(str.split, _TABLE["irregular_forms"]) for form in forms
}
"""Irregular verb forms, each with its base form."""

PAST_FORMS: Final = frozenset(IRREGULAR_FORMS) - {"been", "got", "gotten"}
"""Forms that mean the past without an auxiliary, unlike "got" in "I've got a car"."""


SYNONYMS: Final = {
    stem(word): stem(first)
    for first, *others in map(str.split, _TABLE["synonyms"])
    for word in others
}
"""Stems of synonyms, each with the stem of its group."""


def canonical(word: str) -> str:
    """The stem of a word's base form, or of the first of its synonyms."""
    found = stem(IRREGULAR_FORMS.get(word, word))
    return SYNONYMS.get(found, found)


EXCLUSIVE_WORDS: Final = tuple(
    frozenset(map(canonical, group.split())) for group in _TABLE["exclusive"]
)
"""Groups of mutually exclusive words, as `canonical` returns them."""

PEOPLE: Final = frozenset(map(canonical, ANIMATE | wordlist(_TABLE["people"])))
"""Words for people, as `canonical` returns them."""

DATES: Final = wordlist(_TABLE["dates"])
"""Capitalised words that are not names."""

FUNCTION_WORDS: Final = wordlist(_TABLE["function_words"])
"""Function words, whose effect other features measure."""

WEAK_WORDS: Final = frozenset(map(canonical, wordlist(_TABLE["weak"])))
"""Words that a paraphrase often adds or drops, as `canonical` returns them."""


_PARTS_OF_AN_HOUR: Final = {"quarter": 15, "half": 30}
_PRICE_HALVES: Final = range(13, 21)
"""First halves of a year or price that is spoken in two numbers: "thirteen fifty"."""


def extract_numbers(words: Sequence[str]) -> tuple[frozenset[int], tuple[str, ...]]:
    """Split words into the numbers among them and the other words.

    Args:
        words: Lower-case words, in order.

    Returns:
        The numbers, with hours and minutes apart, and the words that are not part of one.
    """
    found: set[int] = set()
    others: list[str] = []
    place = 0
    while place < len(words):
        if clock := _parse_clock(words, place):
            hour, minute, place = clock
            found |= {hour, minute}
        elif numeral := _parse_number(words, place):
            found.add(numeral.value)
            place = numeral.stop
        else:
            others.append(words[place])
            place += 1
    return frozenset(found), tuple(others)


def _parse_clock(words: Sequence[str], place: int) -> tuple[int, int, int] | None:
    """Hour, minute and stop of "half past six" or "ten to four"."""
    if words[place] in _PARTS_OF_AN_HOUR:
        minutes: Numeral | None = Numeral(_PARTS_OF_AN_HOUR[words[place]], place + 1)
    else:
        minutes = None if words[place].isdigit() else _parse_below_hundred(words, place)
    if minutes is None or minutes.value >= 60 or minutes.stop + 1 >= len(words):
        return None
    side = words[minutes.stop]
    hour = _parse_below_hundred(words, minutes.stop + 1) if side in ("past", "to") else None
    if hour is None or not 0 < hour.value <= 12:
        return None
    if side == "past":
        return hour.value, minutes.value, hour.stop
    return (hour.value - 2) % 12 + 1, 60 - minutes.value, hour.stop


def _parse_number(words: Sequence[str], place: int) -> Numeral | None:
    """A number, digit by digit or as a numeral; not the pronoun "one", nor a decade."""
    if words[place] == "twice":
        return Numeral(2, place + 1)
    if words[place] in PLURALS:
        return None
    numeral = parse_digits(words, place) or parse_numeral(words, place, _PRICE_HALVES)
    return _unless_pronoun(words[place], numeral)


def _parse_below_hundred(words: Sequence[str], place: int) -> Numeral | None:
    return _unless_pronoun(words[place], parse_below_hundred(words, place))


def _unless_pronoun(word: str, numeral: Numeral | None) -> Numeral | None:
    return None if numeral and word == "one" and numeral.value == 1 else numeral


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


ROOT_LENGTH: Final = 5
"""Length of the common prefix of stems with the same root; shorter stems are prefixes."""

_DIRECTIONS: Final = frozenset({"to", "than", "from", "with"})
_SCOPE: Final = frozenset({Qualifier.ONLY, Qualifier.ALL, Qualifier.SOME})
_MODALITY: Final = frozenset({Qualifier.INTENDED, Qualifier.OBLIGED, Qualifier.ENDED})
_COMPLETED: Final = frozenset({Qualifier.PAST, Qualifier.PERFECT})


@dataclass(frozen=True, slots=True)
class Differences:
    """The differences between a statement and another.

    Attributes:
        dropped: Content words of the first without a counterpart in the other, weak words aside.
        added: Content words of the other without a counterpart in the first, weak words aside.
        shared: Content words of both.
        people: Whether they mention different people.
        speaker: Whether only one mentions the speaker.
        reordered: Whether the same words are in a different order or have swapped roles.
        negated: Whether only one is negated.
        dropped_numbers: Numbers only in the first.
        added_numbers: Numbers only in the other.
        shared_numbers: Numbers in both.
        names: Names only in one.
        exclusive: Pairs of mutually exclusive words.
        past: Whether only one is in the past tense.
        progressive: Whether one is completed and the other in progress.
        modality: Whether only one is intended, obligatory or ended.
        scope: Number of "only", "all" and "some" that only one has.
    """

    dropped: int
    added: int
    shared: int
    people: bool
    speaker: bool
    reordered: bool
    negated: bool
    dropped_numbers: int
    added_numbers: int
    shared_numbers: int
    names: int
    exclusive: int
    past: bool
    progressive: bool
    modality: bool
    scope: int

    @property
    def other_differences(self) -> int:
        """Number of ways in which they differ besides content words."""
        found = (
            self.people,
            self.reordered,
            self.negated,
            self.dropped_numbers or self.added_numbers,
            self.names,
            self.exclusive,
            self.past or self.progressive,
            self.modality,
            self.scope,
        )
        return sum(map(bool, found))


def find_differences(one: StatementFeatures, other: StatementFeatures) -> Differences:
    """Find the differences between two statements."""
    names = one.names | other.names
    apart = one.qualifiers ^ other.qualifiers
    words, other_words = frozenset(one.words), frozenset(other.words)
    return Differences(
        dropped=len(_unmatched(one, other, names)),
        added=len(_unmatched(other, one, names)),
        shared=len(one.content & other.content),
        people=words & PEOPLE != other_words & PEOPLE,
        speaker=(SPEAKER in words) != (SPEAKER in other_words),
        reordered=_has_swapped_participants(one, other, names)
        or _has_swapped_directions(one, other)
        or _has_other_order(one, other),
        negated=one.negations % 2 != other.negations % 2,
        dropped_numbers=len(one.numbers - other.numbers),
        added_numbers=len(other.numbers - one.numbers),
        shared_numbers=len(one.numbers & other.numbers),
        names=len((one.names - other_words) | (other.names - words)),
        exclusive=_count_exclusive(words - other_words, other_words - words),
        past=Qualifier.PAST in apart and Qualifier.PERFECT not in one.qualifiers | other.qualifiers,
        progressive=_is_progressive_of(one, other) or _is_progressive_of(other, one),
        modality=bool(apart & _MODALITY),
        scope=len(apart & _SCOPE),
    )


def _unmatched(
    one: StatementFeatures, other: StatementFeatures, names: frozenset[str]
) -> frozenset[str]:
    """Content words of the first without a word of the same root in the other.

    Names must match exactly.
    """
    likes = [word for word in other.content if word not in names]
    return frozenset(
        word
        for word in one.content - other.content - WEAK_WORDS
        if word in names or not any(_share_root(word, like) for like in likes)
    )


def _share_root(word: str, other: str) -> bool:
    shorter = min(len(word), len(other))
    alike = sum(
        1
        for _ in takewhile(lambda letters: letters[0] == letters[1], zip(word, other, strict=False))
    )
    return (alike == shorter >= 4) or (alike >= ROOT_LENGTH and alike >= shorter - 3)


def _has_swapped_participants(
    one: StatementFeatures, other: StatementFeatures, names: frozenset[str]
) -> bool:
    """Whether two participants are in reverse order: "Ana owes Tom", "Tom owes Ana"."""
    if one.passive != other.passive or (one.linked and other.linked):
        return False
    actors, others = (
        [word for word in dict.fromkeys(words) if word == SPEAKER or word in names | PEOPLE]
        for words in (one.words, other.words)
    )
    both = [word for word in actors if word in others]
    return any(
        others.index(first) > others.index(second)
        and (SPEAKER in (first, second) or (first in PEOPLE) == (second in PEOPLE))
        for place, first in enumerate(both)
        for second in both[place + 1 :]
    )


def _has_swapped_directions(one: StatementFeatures, other: StatementFeatures) -> bool:
    """Whether objects of prepositions are swapped: "from A to B", "from B to A"."""
    objects, other_objects = _prepositional_objects(one.words), _prepositional_objects(other.words)
    return any(
        objects[word] != other_objects[word]
        and objects[word] in other.words
        and other_objects[word] in one.words
        for word in objects.keys() & other_objects.keys()
    )


def _prepositional_objects(words: Sequence[str]) -> dict[str, str]:
    return {word: following for word, following in pairwise(words) if word in _DIRECTIONS}


def _has_other_order(one: StatementFeatures, other: StatementFeatures) -> bool:
    """Whether the same words are in a different order that changes the meaning.

    A fronted adverbial, "and" and "is" allow different orders.
    """
    if (
        set(one.words) != set(other.words)
        or one.fronted != other.fronted
        or one.passive != other.passive
    ):
        return False
    if (one.linked and other.linked) or (one.equated and other.equated):
        return False
    content, others = (
        [word for word in words.words if word in words.content] for words in (one, other)
    )
    return content != others


def _count_exclusive(alone: frozenset[str], alone_back: frozenset[str]) -> int:
    """Count the pairs of mutually exclusive words, one in each statement."""
    undone = any(
        word.startswith("un") and word[2:] in others
        for words, others in ((alone, alone_back), (alone_back, alone))
        for word in words
    )
    return (
        sum(
            not (alone.isdisjoint(group) or alone_back.isdisjoint(group))
            for group in EXCLUSIVE_WORDS
        )
        + undone
    )


def _is_progressive_of(one: StatementFeatures, other: StatementFeatures) -> bool:
    """Whether the first is in progress and the other completed."""
    return (
        Qualifier.PROGRESSIVE in one.qualifiers
        and bool(other.qualifiers & _COMPLETED)
        and Qualifier.PROGRESSIVE not in other.qualifiers
    )


MERGE_THRESHOLD: Final = 0.9
"""Probability from which a statement that is stored again confirms the stored one."""

SUGGESTION_THRESHOLD: Final = 0.2
"""Probability from which a merge is suggested to the user."""

MAX_IF_DIFFERENT: Final = 0.89
"""Upper bound of the probability if the statements differ at all: suggested, never merged."""

POSITIVE_FEATURES: Final = ("cosine", "shared_words", "shared_numbers", "no_difference")
"""Features that increase the probability."""

NEGATIVE_FEATURES: Final = (
    "replaced",
    "added",
    "added_words",
    "dropped",
    "other_differences",
    "other_person",
    "reordered",
    "added_numbers",
    "names",
    "exclusive_words",
    "progressive",
    "change_words",
)
"""Features that decrease the probability."""

FEATURES: Final = POSITIVE_FEATURES + NEGATIVE_FEATURES
"""All features, in the order of the model's input."""

_CHANGE: Final = re.compile(
    r"\b(?:now|moved|changed|instead|renamed|switched|new|extended|closed|cancelled|any ?more"
    r"|from now|again|sold|replaced|postponed|became)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class StatementPair:
    """A stored statement, another one, and the cosine of their embeddings."""

    one: str
    other: str
    cosine: float


def equivalence_probability(pair: StatementPair) -> float:
    """The probability, 0 to 1, that two statements say the same; 1 if they have the same words."""
    if _plain_words(pair.one) == _plain_words(pair.other):
        return 1.0
    intercept, weights = coefficients()
    features = pair_features(pair)
    logit = intercept + np.vecdot(features, weights)
    probability = float(0.5 * (1 + np.tanh(logit / 2)))
    identical = features[FEATURES.index("no_difference")]
    return probability if identical else min(probability, MAX_IF_DIFFERENT)


def differs_in_one_word(one: str, other: str) -> bool:
    """Whether two statements differ in one word of another meaning: "oat milk", "soy milk".

    They state different values, so a merge would lose one.
    """
    words, others = _plain_words(one), _plain_words(other)
    replaced = sum(word != another for word, another in zip(words, others, strict=False))
    if len(words) != len(others) or replaced != 1:
        return False
    found = find_differences(statement_features(one), statement_features(other))
    return bool(found.dropped or found.added or found.other_differences)


def pair_features(pair: StatementPair) -> NDArray[np.float64]:
    """The model's input for a pair, float64 (len(FEATURES),)."""
    found = find_differences(statement_features(pair.one), statement_features(pair.other))
    values = {
        "cosine": pair.cosine,
        "shared_words": min(found.shared, 5),
        "shared_numbers": found.shared_numbers > 0,
        "no_difference": not (found.dropped or found.added or found.other_differences),
        "replaced": found.dropped == found.added == 1,
        "added": found.added > 0 and not found.dropped,
        "added_words": min(found.added, 4),
        "dropped": found.dropped > 0 and not found.added,
        "other_differences": (
            0 if found.dropped or found.added else min(found.other_differences, 2)
        ),
        "other_person": found.people and found.speaker,
        "reordered": found.reordered,
        "added_numbers": min(found.added_numbers, 2),
        "names": min(found.names, 2),
        "exclusive_words": min(found.exclusive, 2),
        "progressive": found.progressive,
        "change_words": bool(_CHANGE.search(pair.other)) and not _CHANGE.search(pair.one),
    }
    return np.array([float(values[name]) for name in FEATURES])


def _plain_words(text: str) -> list[str]:
    """The words of a statement, in lower case, for literal comparison."""
    return text.casefold().strip(" .,!?;:'\"").split()


@cache
def coefficients() -> tuple[float, NDArray[np.float64]]:
    """The intercept, and the coefficients in the order of `FEATURES`, float64."""
    data = json.loads(Path(__file__).with_name("equivalence_model.json").read_text("utf-8"))
    return float(data["intercept"]), np.array([data[name] for name in FEATURES])
