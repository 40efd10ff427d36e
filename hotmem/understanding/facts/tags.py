"""Tags of a memory: its topics, and circumstances such as "urgent" and "recurring"."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from hotmem.models.language import NOUNS
from hotmem.temporal import CALENDAR
from hotmem.text.stemming import stems
from hotmem.types.parse import Doc, Span, Token
from hotmem.understanding.facts.third_person import FILLERS
from hotmem.understanding.query.cues import COURTESIES
from hotmem.understanding.query.entities import ENTITY_TYPES

MAX_TAGS: Final = 4
"""Topic tags of one memory."""

MAX_NAME_WORDS: Final = 3
"""Words of the longest name that is a tag."""

CIRCUMSTANCES: Final[Mapping[str, re.Pattern[str]]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "urgent": r"\b(?:urgent(?:ly)?|asap|as soon as possible|immediately|right away|emergency"
        r"|at the latest|overdue)\b",
        "recurring": r"\b(?:every|each|daily|weekly|monthly|yearly|annually|always|on (?:mon"
        r"|tues|wednes|thurs|fri|satur|sun)days)\b",
        "important": r"\b(?:important|crucial|must not|don't forget|never forget|vital|critical)\b",
        "private": r"\b(?:private|confidential|secret|don't tell|between us|password|pin)\b",
        "health": r"\b(?:allerg\w+|medicine|tablets?|pills?|doctor|diagnos\w+|blood pressure"
        r"|dose)\b",
        "idea": r"\b(?:idea|maybe we could|what if|might be nice|thinking of)\b",
    }.items()
}

_VAGUE_NOUNS: Final = frozenset(
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
"""Nouns that say nothing about the topic."""


@dataclass(frozen=True, slots=True)
class TagSpan:
    """A tag and its span of characters."""

    tag: str
    start: int
    stop: int


def extract_tags(doc: Doc) -> tuple[str, ...]:
    """Return at most `MAX_TAGS` nouns and names of a parsed text, in order, lower case."""
    return tuple(dict.fromkeys(term.tag for term in tag_spans(doc)))[:MAX_TAGS]


def tag_spans(doc: Doc) -> list[TagSpan]:
    """Return all tags of a parsed text with their spans: nouns in the singular, and whole names.

    Single nouns rather than phrases, so that "red kayak" and "kayak trip" share a tag.
    """
    runs = (list(run) for proper, run in groupby(doc, _in_name) if proper)
    names = [doc[run[0].i : run[-1].i + 1] for run in runs]
    nouns = [
        doc[token.i : token.i + 1] for token in doc if token.pos_ == "NOUN" and _is_tag_word(token)
    ]
    from spacy.util import filter_spans  # the document is spaCy's, so spaCy is loaded

    spans = filter_spans(
        [*(entity for entity in doc.ents if entity.label_ in ENTITY_TYPES), *names, *nouns]
    )
    found = (TagSpan(_tag_text(span), span.start_char, span.end_char) for span in spans)
    return [
        term
        for term in found
        if term.tag
        and len(term.tag.split()) <= MAX_NAME_WORDS
        and not is_interjection(doc.text[term.start : term.stop])
    ]


def is_interjection(phrase: str) -> bool:
    """Whether the parser took a greeting, a single letter or laughter for a noun or a name."""
    return (
        len(phrase) < 2
        or FILLERS.fullmatch(phrase.casefold()) is not None
        or COURTESIES.fullmatch(phrase) is not None
    )


def tags_within(spans: Sequence[TagSpan], start: int, stop: int, text: str) -> tuple[str, ...]:
    """Return the tags of a statement that was read from a part of a text.

    Args:
        spans: All tags of the text.
        start: First character of the part.
        stop: One past its last.
        text: The statement; tags of words that it does not contain would outlive a deletion.
    """
    held = stems(text)
    tags = (
        term.tag
        for term in spans
        if start <= term.start and term.stop <= stop and stems(term.tag) <= held
    )
    return tuple(dict.fromkeys(tags))[:MAX_TAGS]


def circumstance_tags(text: str) -> tuple[str, ...]:
    """Return tags for the circumstances, such as "urgent" and "recurring"."""
    return tuple(name for name, pattern in CIRCUMSTANCES.items() if pattern.search(text))


def _in_name(token: Token) -> bool:
    return token.pos_ == "PROPN" and _is_tag_word(token)


def _is_tag_word(token: Token) -> bool:
    dated = token.ent_type_ in ("DATE", "TIME")
    return (
        _VAGUE_NOUNS.isdisjoint((token.lower_, token.lemma_.lower()))
        and CALENDAR.isdisjoint((token.lower_, token.lemma_.lower()))
        and not (token.like_num or token.is_stop or dated)
        and token.is_alpha
        and (len(token) > 2 or (len(token) == 2 and token.is_upper))
    )


def _tag_text(span: Span) -> str:
    """Return the content words of a noun or name, nouns in the singular."""
    words = [
        token
        for token in span
        if token.pos_ in ("NOUN", "PROPN", "ADJ") and token.is_alpha and not token.is_stop
    ]
    return " ".join(_singular(token) if token.pos_ == "NOUN" else token.lower_ for token in words)


def _singular(noun: Token) -> str:
    """The singular of a noun, or the noun itself if the dictionary has no singular of it.

    What the lemmatizer makes of words that it does not know is no word: "kubernete". A word of the
    dictionary keeps its form ("glasses"), and "cookies" are no "cooky" if there is a "cookie".
    """
    word, lemma = noun.lower_, noun.lemma_.lower()
    nouns = noun.vocab.lookups.get_table(NOUNS)["noun"]
    stripped = word.removesuffix("s")
    forms = (word, stripped, lemma) if word.endswith("ies") else (word, lemma, stripped)
    return next((form for form in forms if form in nouns), word)
