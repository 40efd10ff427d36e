"""Whom or what the clauses of a turn are about, by name.

What is said of one person changes nothing that is known of another, however similar it is.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date
from itertools import takewhile
from typing import Final

from hotmem.models.reader import Effects, Reader
from hotmem.temporal.units import MONTHS, WEEKDAYS
from hotmem.text.word_sets import wordlist
from hotmem.types import StoredMemory
from hotmem.types.understanding import Doc, Span, Token
from hotmem.understanding.facts.relations import IS_CALLED
from hotmem.understanding.lexicon import ANIMATE, FEMALE, MALE, PETS

SUBJECTS: Final = frozenset({"nsubj", "nsubjpass"})
_OWNED: Final = frozenset({"ROOT", "compound"})
_NAME: Final = re.compile(r"\b[^\W\d_a-z][\w’']*")
_PLACE: Final = re.compile(r"\b(?:in|at|to|from|near|around)(?: [^\W\d_a-z][\w’']*)+")
_DATE: Final = re.compile(r"\b(\d{4}-\d{2}-\d{2})(?: \(\w+\))?(?!\w)")
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_KINDS: Final = {word: kind for kind, words in enumerate((FEMALE, MALE, PETS), 1) for word in words}
"""Nouns for women, men and animals. Nobody is two of them."""

_REFERENCES: Final = wordlist(
    "he she they it him her them his hers its their theirs this that these those "
    "everyone everybody anyone nobody all both everything family kids children parents siblings "
    "twins folks relatives friends neighbours neighbors colleagues people pets animals"
)
"""Words that may mean somebody who was mentioned before."""

_NO_NAMES: Final = frozenset({"the", "user", "user's", "user’s"})


def named_subjects(doc: Doc) -> frozenset[str]:
    """Return whom the clauses of a turn are about, in lower case, word by word.

    Names, and nouns for women, men and animals: "my brother". Also those behind "my sister" where
    the parser misses the verb: "my sister Anna-Lena works".
    """
    return frozenset(
        word.lower_
        for token in doc
        if token.dep_ in SUBJECTS or (token.dep_ in _OWNED and _is_owned(token))
        for word in noun_phrase(token)
        if word.pos_ == "PROPN" or (word.i == token.i and word.lower_ in _KINDS)
    )


def subject_of(part: Span) -> Span | None:
    """Return the subject of a clause, without relative clauses; None if it is a pronoun."""
    subject = next(
        (token for token in part if token.dep_ in SUBJECTS and token.pos_ != "PRON"), None
    )
    if subject is None:
        return None
    words = noun_phrase(subject)
    return part.doc[words[0].i : words[-1].i + 1]


def names_another(subject: str, names: frozenset[str], text: str) -> bool:
    """Whether a statement is about one person or animal, and a turn about another.

    "Uncle Bob" and "Uncle Sean" are two, and so are "my sister" and "my brother"; "Maria" and
    "Maria Lopez" may be one.

    Args:
        subject: The subject of the statement.
        names: What `named_subjects` returned for the turn.
        text: The whole statement, which may name them elsewhere.
    """
    kinds = [_KINDS[word] for word in names if word in _KINDS]
    own_kinds = [_KINDS[word] for word in subject.casefold().split() if word in _KINDS]
    if own_kinds and kinds and own_kinds[-1] not in kinds:
        return True
    others = names - _KINDS.keys() - set(_WORD.findall(text.casefold()))
    own = {word.casefold() for word in _NAME.findall(subject)} - _NO_NAMES
    return bool(others and own - names)


def is_absent(subject: str, speaker: str | None, known: str, text: str) -> bool:
    """Whether a statement is about somebody, and a turn mentions nobody of it, not even as "he".

    Args:
        subject: The subject of the statement.
        speaker: The user's name in it; "the user" if it is None.
        known: The whole statement.
        text: The turn.
    """
    user = _names(speaker or "")
    kinds = {_KINDS[word] for word in subject.casefold().split() if word in _KINDS}
    if not (_names(subject) - user or kinds):
        return False
    words = {_without_ending(word) for word in _WORD.findall(text.casefold())}
    people = _names(_PLACE.sub("", known)) - user
    return not words & (ANIMATE | _REFERENCES | people)


def full_subject(memory: StoredMemory) -> str:
    """Return the subject of a memory, with its name if that is what the memory states."""
    called = memory.relation == IS_CALLED.name
    return f"{memory.subject} {memory.object}" if called else memory.subject


def subject_words(subject: str) -> frozenset[str]:
    """Return the words of a subject without those for its owners, in lower case."""
    words = _WORD.findall(subject.casefold())
    return frozenset(word for word in words if not word.endswith(("'s", "’s")))


def _names(text: str) -> set[str]:
    return {_without_ending(word.casefold()) for word in _NAME.findall(text)} - _NO_NAMES


def _without_ending(word: str) -> str:
    return word.removesuffix("'s").removesuffix("’s")


def _is_owned(noun: Token) -> bool:
    return any(child.dep_ == "poss" and child.pos_ == "PRON" for child in noun.lefts)


def noun_phrase(noun: Token) -> list[Token]:
    """Return the noun with what stands before it, and names beside it: "my sister Carla".

    A name directly behind it is beside it whatever the parser takes it for: a month is the time
    of the verb ("my cousin April"), a rare name a part of it ("my aunt Beth works").
    """
    beside = [
        word
        for child in noun.rights
        if child.dep_ in ("appos", "flat", "compound") and child.pos_ != "VERB"
        for word in child.subtree
    ]
    beside += takewhile(
        lambda word: word.pos_ == "PROPN" or word.text == "-", noun.doc[noun.i + 1 :]
    )
    before = [word for child in noun.lefts for word in child.subtree]
    return sorted({*before, noun, *beside}, key=lambda word: word.i)


UNNAMED_DOUBT: Final = 0.42
"""Probability that has to remain with a pronoun in the place of the name.

On the pairs that the reader was trained on and the half for tuning of
`eval/data/understanding/doubts`, 13 of 33 changes that the limit with the name, 0.49, would lose
stay in doubt, and none of 5 other facts.
"""


def confirmed_effects(
    reader: Reader, known: str, subject: str, text: str, parse: Callable[[], Doc]
) -> Effects:
    """Return what a turn does to a statement; what it doubts must be in doubt without a name too.

    Args:
        reader: The reader.
        known: The statement, in the third person.
        subject: The subject of the statement.
        text: The turn.
        parse: Parses the turn; called only if the statement is in doubt.
    """
    known, text = (_DATE.sub(_as_spoken, one) for one in (known, text))
    effects = reader.effects(known, text)
    if effects.doubted < reader.settings.doubted:
        return effects
    forms = (reader.effects(known, form) for form in pronoun_forms(parse(), subject))
    unnamed = max(forms, key=lambda one: one.doubted, default=effects)
    return unnamed if unnamed.doubted < UNNAMED_DOUBT else effects


def _as_spoken(found: re.Match[str]) -> str:
    """A date as people say it, and the reader knows it: "Friday 20 November"."""
    try:
        day = date.fromisoformat(found[1])
    except ValueError:
        return found[0]
    weekday, month = WEEKDAYS[day.weekday()], MONTHS[day.month - 1]
    return f"{weekday.title()} {day.day} {month.title()}"


def pronoun_forms(doc: Doc, subject: str) -> tuple[str, ...]:
    """Return a turn with a pronoun for each name of whom or what a statement is about.

    Two forms, with "she" and with "he", where it is not known which is right; none if the turn's
    subjects do not name the subject of the statement. "My wife" names nobody.

    Args:
        doc: The parsed turn.
        subject: The subject of the statement.
    """
    known = subject_words(subject)
    spans = [(phrase[0], phrase[-1], _pronouns(phrase, known)) for phrase in _named(doc, known)]
    forms = zip(*(pronouns for _, _, pronouns in spans), strict=True) if spans else ()
    return tuple(
        dict.fromkeys(_replaced(doc, [span[:2] for span in spans], form) for form in forms)
    )


def _named(doc: Doc, known: frozenset[str]) -> Iterator[list[Token]]:
    """Yield the phrases of a turn's subjects with a name that the subject of a statement has."""
    stop = 0
    for token in doc:
        if token.dep_ not in SUBJECTS or token.pos_ == "PRON":
            continue
        phrase = noun_phrase(token)
        names = {
            word.lower_
            for word in phrase
            if word.pos_ == "PROPN" and word.dep_ != "poss" and word.lower_ not in ANIMATE
        }
        if names & known and phrase[0].i >= stop:
            stop = phrase[-1].i + 1
            yield phrase


def _pronouns(phrase: list[Token], known: frozenset[str]) -> tuple[str, str]:
    """Return the pronouns that may stand for a phrase."""
    words = known.union(word.lower_ for word in phrase)
    if words & FEMALE:
        return "she", "she"
    if words & MALE:
        return "he", "he"
    if phrase[-1].tag_ == "NNPS":
        return "they", "they"
    return "she", "he"


def _replaced(doc: Doc, spans: list[tuple[Token, Token]], pronouns: tuple[str, ...]) -> str:
    text, parts, last = doc.text, list[str](), 0
    for (first, final), pronoun in zip(spans, pronouns, strict=True):
        begins = first.is_sent_start and first.text[:1].isupper()
        parts += [text[last : first.idx], pronoun.capitalize() if begins else pronoun]
        last = final.idx + len(final)
    return "".join((*parts, text[last:]))
