"""Known names that a speech recogniser wrote as other words: "pot hola" for "Potola".

A word run may be a misheard name if it sounds like a known one and is not used as what it says. A
first look at the parse leaves out runs in ordinary use: function words, nouns with a determiner.
What remains is compared by sound; then the name takes the run's place, and the parse of that text
must use it as a name. So "sofa passed her exam" is about Zsofia, and "my sofa is green" is not.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from hotmem.temporal import CALENDAR
from hotmem.text.names import SimilarName, find_similar_names
from hotmem.text.phonetics import KnownName
from hotmem.types import Correction
from hotmem.types.understanding import Doc, Token

MAX_WORDS: Final = 3
"""Words of the longest run."""

MAX_TOKENS: Final = 60
"""Last tokens of a text that are looked at."""

MAX_TRIED: Final = 3
"""Names tried in a text."""


class _Limits(NamedTuple):
    """Largest phonetic distances of one of a few names; 0 where none is looked for.

    Attributes:
        capitals: From a run of capitalised words.
        capital: From a capitalised word.
        part: From a part of a capitalised run.
        run: From a run in lower case.
        weak: From one with a function word at an edge.
        subject: From a noun without a determiner that is a subject.
        unknown: From a word that no dictionary has.
        word: From one that a dictionary has.
    """

    capitals: float
    capital: float
    part: float
    run: float
    weak: float
    subject: float
    unknown: float
    word: float


_QUERY: Final = _Limits(
    capitals=0.36,
    capital=0.24,
    part=0.12,
    run=0.24,
    weak=0.08,
    subject=0.22,
    unknown=0.13,
    word=0.11,
)
_STATEMENT: Final = _QUERY._replace(capital=0, part=0, subject=0.12, unknown=0.1, word=0)

_CONTENT: Final = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "X", "NUM"})
_DETERMINERS: Final = frozenset({"det", "poss", "nummod", "predet"})
_MODIFIERS: Final = _DETERMINERS | {"amod", "compound", "nmod"}
_ROLES: Final = frozenset(
    {"nsubj", "nsubjpass", "dobj", "pobj", "dative", "iobj", "conj", "poss", "attr", "appos"}
)
_INTRODUCING: Final = frozenset({"call", "name"})
"""Verbs before a name that is new."""


@dataclass(frozen=True, slots=True)
class MisheardName:
    """A known name that stands for words of a text.

    Attributes:
        start: Offset of the first character of the words.
        stop: One past the last.
        name: The name.
    """

    start: int
    stop: int
    name: str


@dataclass(frozen=True, slots=True)
class _Run:
    """A word run that may be a misheard name.

    Attributes:
        tokens: Its tokens.
        limit: Largest phonetic distance of a name.
        certain: Whether its capitals say that it is a name.
    """

    tokens: tuple[Token, ...]
    limit: float
    certain: bool

    @property
    def text(self) -> str:
        """Its words."""
        return " ".join(token.text for token in self.tokens)

    @property
    def start(self) -> int:
        """Offset of its first character."""
        return self.tokens[0].idx

    @property
    def stop(self) -> int:
        """One past its last character."""
        return self.tokens[-1].idx + len(self.tokens[-1])


def find_misheard_names(
    doc: Doc,
    known: Sequence[KnownName],
    parse: Callable[[str], Doc],
    is_word: Callable[[str], bool],
    *,
    cased: bool,
    statement: bool = False,
    corrections: Sequence[Correction] = (),
) -> list[MisheardName]:
    """Find known names that stand as other words in a text, in the order of the words.

    Args:
        doc: The parsed text.
        known: The user's known names; of equally near ones the first counts.
        parse: Parses a text in which a name takes the place of the words.
        is_word: Whether a dictionary has a word in lower case.
        cased: Whether the case of the text's letters means something.
        statement: Whether it is a statement, which a false name files under the wrong person. In
            it, words of the dictionary and capitalised words stand for themselves, and so do words
            beside the known name: "Thomas, not Tomas".
        corrections: Corrections in the text. One that does not name what was wrong mostly sounds
            like it, so its words are taken as they stand.
    """
    if not known:
        return []
    runs = [
        run
        for run in _runs(doc, is_word, _STATEMENT if statement else _QUERY, cased=cased)
        if run.limit > 0
        and not any(
            run.start < one.stop and one.start < run.stop for one in corrections if not one.wrong
        )
    ]
    nearest: dict[str, SimilarName] = {}
    for one in find_similar_names({run.text: run.limit for run in runs}, known):
        if not _shares_word(one.heard, one.name):
            nearest.setdefault(one.heard, one)
    candidates = sorted(
        ((nearest[run.text], run) for run in runs if run.text in nearest),
        key=lambda candidate: candidate[0].distance,
    )
    found: list[MisheardName] = []
    for similar, run in candidates[:MAX_TRIED]:
        if any(run.start < one.stop and one.start < run.stop for one in found):
            continue
        if statement and _stands_in(similar.name, doc.text):
            continue
        if run.certain or _fits(doc, run, similar.name, parse):
            found.append(MisheardName(run.start, run.stop, similar.name))
    return sorted(found, key=lambda one: one.start)


def _shares_word(heard: str, name: str) -> bool:
    """Whether words and a name have a word in common: "Uncle Sean" is no misheard "Uncle Bob"."""
    return not set(heard.casefold().split()).isdisjoint(name.casefold().split())


def _stands_in(name: str, text: str) -> bool:
    """Whether a text has a name as it is written."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def _runs(
    doc: Doc, is_word: Callable[[str], bool], limits: _Limits, *, cased: bool
) -> Iterator[_Run]:
    """Yield the word runs that may be misheard names."""
    tokens = list(doc[-MAX_TOKENS:])
    for start in range(len(tokens)):
        for size in range(1, MAX_WORDS + 1):
            words = tuple(tokens[start : start + size])
            if len(words) < size or not _is_spoken_word(words[-1], cased=cased):
                break
            if start and tokens[start - 1].lemma_ in _INTRODUCING:
                break
            if size > 1 and not words[-2].whitespace_:
                break
            if not cased or (size == 1 and words[0].is_sent_start and limits.capital):
                run = _lower_run(words, is_word, limits)
            else:
                run = _capitalised_run(words, limits)
            if run is not None:
                yield run


def _is_spoken_word(token: Token, *, cased: bool) -> bool:
    """Whether a token is a word: no number, no letter that is spelt out, no abbreviation."""
    text = token.text.removesuffix(".")
    if not text.isalpha() or token.like_num:
        return False
    if len(text) == 1:
        return token.lower_ in ("a", "i")
    return not (cased and text.isupper())


def _capitalised_run(words: tuple[Token, ...], limits: _Limits) -> _Run | None:
    """The run if it is capitalised as a name is."""
    if not all(word.text[0].isupper() and word.text != "I" for word in words):
        return None
    if not _has_content(words) and (len(words) == 1 or words[0].is_sent_start):
        return None
    if any(
        word is not None and word.text[0].isupper() and not word.is_sent_start
        for word in (_before(words[0]), _after(words[-1]))
    ):
        return _Run(words, limits.part, certain=True)
    if len(words) > 1:
        return _Run(words, limits.capitals, certain=True)
    if words[0].lower_ in CALENDAR:
        return None
    return _Run(words, limits.capital, certain=True)


def _lower_run(
    words: tuple[Token, ...], is_word: Callable[[str], bool], limits: _Limits
) -> _Run | None:
    """The run if it is not in ordinary use."""
    last = words[-1]
    if not _has_content(words) or _is_modified(last, words):
        return None
    if len(words) > 1:
        if last.pos_ == "PRON" or (last.dep_ == "det" and not _breaks_off(last)):
            return None
        weak = any(word.is_stop and not _is_content(word) for word in words)
        weak = weak and not _breaks_off(last)
        return _Run(words, limits.weak if weak else limits.run, certain=False)
    if last.lower_ in CALENDAR or len(last) == 1 or last.dep_ in ("amod", "compound"):
        return None
    if _is_bare_subject(last):
        return _Run(words, limits.subject, certain=False)
    if not _is_in(last, is_word):
        return _Run(words, limits.unknown, certain=False)
    if last.pos_ in ("NOUN", "PROPN", "ADJ", "X") or last.dep_ in _ROLES:
        return _Run(words, limits.word, certain=False)
    return None


def _is_in(word: Token, is_word: Callable[[str], bool]) -> bool:
    """Whether a dictionary has a word."""
    return is_word(word.lower_) or is_word(word.lemma_.lower())


def _breaks_off(last: Token) -> bool:
    """Whether a finite verb follows a determiner or a bare verb, as no phrase has it."""
    following = _after(last)
    return (
        following is not None
        and following.tag_ in ("VBD", "VBZ", "MD")
        and (last.pos_ == "DET" or last.tag_ == "VB")
    )


def _is_bare_subject(token: Token) -> bool:
    """Whether a singular noun without a determiner is the subject, or is joined to a pronoun."""
    if token.tag_ not in ("NN", "NNP") or any(True for _ in token.lefts):
        return False
    joined = any(word.pos_ == "PRON" and word.tag_ == "PRP" for word in token.conjuncts)
    return joined or (token.dep_ == "nsubj" and token.head.i > token.i)


def _has_content(words: Sequence[Token]) -> bool:
    return any(_is_content(word) and not word.is_stop for word in words)


def _is_content(word: Token) -> bool:
    """Whether a word is no function word, or one that the tagger does not know."""
    return word.lower_ != "i" and (
        word.pos_ in _CONTENT or not (word.is_stop or word.dep_ in ("intj", "punct"))
    )


def _is_modified(token: Token, words: Sequence[Token]) -> bool:
    """Whether a word is a noun whose phrase begins with or before the run, as "my old ties"."""
    return token.pos_ in ("NOUN", "PROPN") and any(
        child.dep_ in _DETERMINERS and child.i <= words[0].i for child in token.lefts
    )


def _fits(doc: Doc, run: _Run, name: str, parse: Callable[[str], Doc]) -> bool:
    """Whether the name in the run's place is used as a name."""
    text = f"{doc.text[: run.start]}{name}{doc.text[run.stop :]}"
    stop = run.start + len(name)
    tokens = [
        token for token in parse(text) if run.start <= token.idx and token.idx + len(token) <= stop
    ]
    if not tokens:
        return False
    places = {token.i for token in tokens}
    head = next((token for token in tokens if token.head.i not in places), tokens[-1])
    return (
        head.pos_ in ("PROPN", "NOUN")
        and head.dep_ in _ROLES
        and not any(child.dep_ in _MODIFIERS and child.i not in places for child in head.lefts)
    )


def _before(token: Token) -> Token | None:
    return token.nbor(-1) if token.i else None


def _after(token: Token) -> Token | None:
    return token.nbor(1) if token.i + 1 < len(token.doc) else None
