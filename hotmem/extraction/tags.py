"""Words a memory is filed under: what it is about, and what it asks for (urgent, recurring)."""

import re
from collections.abc import Mapping
from typing import Final

from spacy.tokens import Doc, Span, Token

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


def found(doc: Doc) -> tuple[str, ...]:
    """What a parsed statement is about, the most telling first: at most `MOST` phrases, in lower case, without articles."""
    names = [_term(entity) for entity in doc.ents if entity.label_ in ("PERSON", "ORG", "GPE", "LOC", "PRODUCT", "EVENT", "WORK_OF_ART", "FAC")]
    phrases = [_term(chunk) for chunk in doc.noun_chunks if _tells(chunk.root)]
    terms = [term for term in (*phrases, *names) if term and len(term.split()) <= LONGEST_WORDS]
    return tuple(dict.fromkeys(terms))[:MOST]


def circumstances(text: str) -> tuple[str, ...]:
    """Tags for what a statement asks for, such as "urgent" and "recurring"."""
    return tuple(name for name, pattern in CIRCUMSTANCES.items() if pattern.search(text))


def _tells(root: Token) -> bool:
    return root.pos_ in ("NOUN", "PROPN") and root.lemma_.lower() not in _VAGUE and not root.like_num and len(root) > 2


def _term(span: Span) -> str:
    """The phrase from its first noun or adjective on, its head as it stands in a dictionary."""
    words = [token for token in span if token.pos_ in ("NOUN", "PROPN", "ADJ") and token.is_alpha and not token.is_stop]
    return " ".join(token.lemma_.lower() if token.pos_ == "NOUN" else token.lower_ for token in words)
