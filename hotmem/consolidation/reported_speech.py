"""Sentences of a conversation as reported speech: third person, without filler.

"Well, I've got my exam on Tuesday." → "Ana has got Ana's exam on Tuesday."
"""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hotmem.text.word_sets import wordlist
from hotmem.types.understanding import Span, Token
from hotmem.understanding.facts.question_statements import asks
from hotmem.understanding.facts.third_person import (
    FIRST_PERSON_PRONOUNS,
    SECOND_PERSON,
    sentence,
    to_third_person,
)
from hotmem.understanding.query.ambiguity import is_pleonastic
from hotmem.understanding.query.cues import COURTESIES
from hotmem.understanding.query.entities import is_time

MAX_WORDS: Final = 40
"""Maximum number of words of a sentence; longer ones are truncated, at a comma if possible."""

_SUBJECTS: Final = wordlist("nsubj nsubjpass csubj expl")
_PERSONAL: Final = wordlist("he she it they")
_OBLIQUE: Final = wordlist("him his her hers them their theirs its")
_DEMONSTRATIVE: Final = wordlist("this that these those")
_COURTESY: Final = re.compile(rf"(?:{COURTESIES.pattern})(?=\s*[^\w\s])", COURTESIES.flags)
"""A courtesy with punctuation after it: "no fracture" begins with none."""

_CONNECTIVES: Final = wordlist("so then well also anyway now plus")
_DISCOURSE_TAGS: Final = frozenset({"CC", "UH"})
"""Tags of words that link a sentence to the one before it, or only keep the turn."""


@dataclass(frozen=True, slots=True)
class ReportedSentence:
    """A sentence as reported speech.

    Attributes:
        text: The sentence.
        question: Whether it asks something.
        complete: Whether it can be understood alone: with a subject, and without pronouns that
            need an earlier sentence.
    """

    text: str
    question: bool
    complete: bool


def report(
    sent: Span,
    speaker: str,
    listener: str | None,
    antecedents: Mapping[int, str],
    *,
    advises: bool,
) -> ReportedSentence:
    """Report a sentence.

    Args:
        sent: The sentence.
        speaker: Who says it.
        listener: To whom; None if that is uncertain.
        antecedents: What pronouns refer to, by index of the token.
        advises: Whether the speaker is the assistant, who drops no subject.
    """
    tokens = _without_openings(sent)
    truncated = _truncate(tokens)
    question = asks(tokens)
    addressed = listener if question or advises else None
    suggests = [token.lower_ for token in tokens[:2]] in (["let", "'s"], ["let", "’s"])
    subject = _subject(sent)
    body = to_third_person(
        truncated[2:] if suggests else truncated,
        speaker,
        listener=addressed,
        antecedents=antecedents,
    )
    dropped = subject is None and not (advises or question or suggests) and sent.root.tag_ == "VBD"
    if question:
        text = f"{sentence(speaker, 'asks:', body)[:-1]}?"
    else:
        text = sentence(f"{speaker} wants to" if suggests else speaker if dropped else "", body)
    unresolved = _has_unresolved(truncated, antecedents, addressed)
    return ReportedSentence(
        text, question, (subject is not None or dropped or suggests) and not unresolved
    )


def is_self_contained(sent: Span) -> bool:
    """Whether no pronoun of a sentence needs an earlier one."""
    return not _has_unresolved([token for token in sent if not token.is_space], (), None)


def is_question(sent: Span) -> bool:
    """Whether a sentence asks something, with or without a question mark."""
    return asks(_without_openings(sent))


def _without_openings(sent: Span) -> list[Token]:
    """The tokens of a sentence after greetings, interjections and conjunctions."""
    tokens = [token for token in sent if not token.is_space]
    courtesy = _COURTESY.match(sent.text.lstrip())
    stop = tokens[0].idx + courtesy.end() if courtesy and tokens else 0
    rest = [token for token in tokens if token.idx >= stop]
    place = 0
    while place < len(rest) - 1 and _is_opening(rest[place]):
        place += 1
    rest = [
        token
        for token in rest[place:]
        if (token.dep_ != "intj" or _is_said(token))
        and (token.text.isascii() or not any(map(_is_pictogram, token.text)))
    ]
    return rest or tokens


def _is_said(token: Token) -> bool:
    """Whether an interjection is what somebody says: "if she says no"."""
    return token.i > 0 and token.nbor(-1).lemma_ in ("say", "answer", "reply", "mean", "vote")


def _is_pictogram(character: str) -> bool:
    return unicodedata.category(character) in ("So", "Sk", "Cs")


def _is_opening(token: Token) -> bool:
    return (
        token.tag_ in _DISCOURSE_TAGS
        or token.dep_ in ("intj", "discourse", "cc")
        or not any(map(str.isalnum, token.text))
        or token.lower_ in _CONNECTIVES
    )


def _truncate(tokens: Sequence[Token]) -> list[Token]:
    """At most `MAX_WORDS` words, up to a comma if possible."""
    kept: list[Token] = []
    words = 0
    for token in tokens:
        words += bool(not kept or kept[-1].whitespace_)
        if words > MAX_WORDS:
            comma = max((at for at, one in enumerate(kept) if one.text == ","), default=0)
            return kept[:comma] if comma > len(kept) // 2 else kept
        kept.append(token)
    return kept


def _subject(sent: Span) -> Token | None:
    """The subject of the main clause."""
    return next((child for child in sent.root.children if child.dep_ in _SUBJECTS), None)


def _has_unresolved(
    tokens: Sequence[Token], antecedents: Collection[int], listener: str | None
) -> bool:
    """Whether a pronoun needs an earlier sentence, or the person addressed is uncertain."""
    named = spoke = False
    for token in tokens:
        word = token.lower_
        if word in SECOND_PERSON:
            if listener is None:
                return True
        elif word in FIRST_PERSON_PRONOUNS:
            spoke = True
        elif token.pos_ in ("NOUN", "PROPN"):
            named = named or not is_time(token)
        elif not named and token.i not in antecedents and _refers_back(token, spoke=spoke):
            return True
    return False


def _refers_back(token: Token, *, spoke: bool) -> bool:
    """Whether a word, with no noun before it in its sentence, refers to an earlier one.

    Args:
        token: The word.
        spoke: Whether the speaker is mentioned before it, whom "their" may mean.
    """
    word = token.lower_
    if word in _DEMONSTRATIVE:
        return token.dep_ in _SUBJECTS and token.tag_ == "DT"
    if token.pos_ != "PRON" or token.dep_ == "expl":
        return False
    return (word in _PERSONAL and not is_pleonastic(token)) or (
        word in _OBLIQUE and not (spoke and word == "their")
    )
