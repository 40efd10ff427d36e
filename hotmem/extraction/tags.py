"""Words a memory is filed under: what it is about, and what it asks for (urgent, recurring)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from spacy.tokens import Doc, Span, Token

from hotmem.analysis.entities import NAMED
from hotmem.terms import stems

MOST: Final = 4
"""Tags found for one memory, besides those given and those of its circumstances."""

LONGEST_WORDS: Final = 3

CIRCUMSTANCES: Final[Mapping[str, re.Pattern[str]]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "urgent": r"\b(?:urgent(?:ly)?|asap|as soon as possible|immediately|right away|emergency|at the latest|overdue)\b",
        "recurring": r"\b(?:every|each|daily|weekly|monthly|yearly|annually|always|on (?:mon|tues|wednes|thurs|fri|satur|sun)days)\b",
        "important": r"\b(?:important|crucial|must not|don't forget|never forget|vital|critical)\b",
        "private": r"\b(?:private|confidential|secret|don't tell|between us|password|pin)\b",
        "health": r"\b(?:allerg\w+|medicine|tablets?|pills?|doctor|diagnos\w+|blood pressure|dose)\b",
        "idea": r"\b(?:idea|maybe we could|what if|might be nice|thinking of)\b",
    }.items()
}

_VAGUE: Final = frozenset(
    [
        "thing",
        "way",
        "lot",
        "bit",
        "kind",
        "sort",
        "time",
        "day",
        "week",
        "month",
        "year",
        "morning",
        "evening",
        "night",
        "today",
        "tomorrow",
        "minute",
        "hour",
        "one",
        "something",
        "anything",
        "everything",
        "nothing",
        "someone",
        "people",
        "person",
        "place",
        "stuff",
        "user",
        "part",
        "end",
        "side",
        "half",
        "couple",
        "number",
        "name",
        "problem",
        "reason",
        "fact",
        "question",
        "answer",
        "thought",
        "point",
    ]
)
"""Heads of noun phrases that tell nothing of what a statement is about."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A tag and the characters it was found in."""

    tag: str
    start: int
    stop: int


def found(doc: Doc) -> tuple[str, ...]:
    """What a parsed statement is about, the most telling first: at most `MOST` phrases, in lower case, without articles."""
    return tuple(dict.fromkeys(phrase.tag for phrase in phrases(doc)))[:MOST]


def phrases(doc: Doc) -> list[Phrase]:
    """All that a parsed text is about, with its places: what it speaks of, then names that are no part of that."""
    names = (entity for entity in doc.ents if entity.label_ in NAMED)
    spans = (*(chunk for chunk in doc.noun_chunks if _tells(chunk.root)), *names)
    told = (Phrase(_term(span), span.start_char, span.end_char) for span in spans)
    return [phrase for phrase in told if phrase.tag and len(phrase.tag.split()) <= LONGEST_WORDS]


def within(told: Sequence[Phrase], start: int, stop: int, text: str) -> tuple[str, ...]:
    """Tags of a statement that was read from a part of a text.

    Args:
        told: What the whole text is about.
        start: First character of the part.
        stop: One past its last.
        text: The statement; a tag of words that it does not hold would outlive them when they are forgotten.
    """
    held = stems(text)
    tags = (phrase.tag for phrase in told if start <= phrase.start and phrase.stop <= stop and stems(phrase.tag) <= held)
    return tuple(dict.fromkeys(tags))[:MOST]


def circumstances(text: str) -> tuple[str, ...]:
    """Tags for what a statement asks for, such as "urgent" and "recurring"."""
    return tuple(name for name, pattern in CIRCUMSTANCES.items() if pattern.search(text))


def _tells(root: Token) -> bool:
    return root.pos_ in ("NOUN", "PROPN") and root.lemma_.lower() not in _VAGUE and not root.like_num and len(root) > 2


def _term(span: Span) -> str:
    """The phrase from its first noun or adjective on, its head as it stands in a dictionary."""
    words = [token for token in span if token.pos_ in ("NOUN", "PROPN", "ADJ") and token.is_alpha and not token.is_stop]
    return " ".join(token.lemma_.lower() if token.pos_ == "NOUN" else token.lower_ for token in words)
