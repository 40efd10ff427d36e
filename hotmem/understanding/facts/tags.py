"""Tags of a memory: its topics, and circumstances such as "urgent" and "recurring"."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from hotmem.models.language import NOUNS
from hotmem.temporal import CALENDAR
from hotmem.text.stemming import stems
from hotmem.text.tag_words import ABBREVIATIONS, COMPOUNDS, IRREGULAR, long_form
from hotmem.text.word_sets import word_sets
from hotmem.types.understanding import Doc, Span, Token
from hotmem.understanding.facts.third_person import FILLERS
from hotmem.understanding.query.cues import COURTESIES
from hotmem.understanding.query.entities import ENTITY_TYPES

_WORDS: Final = word_sets(__file__)

MAX_TAGS: Final = 6
"""Topic tags of one memory."""

MAX_WORDS: Final = 3
"""Words of the longest tag."""

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

_VAGUE_NOUNS: Final = _WORDS["vague_nouns"]
"""Nouns that say nothing about the topic."""


@dataclass(frozen=True, slots=True)
class TagSpan:
    """A tag with the words that it comes from, and their span of characters.

    The words differ from the tag if they are an abbreviation or a plural.
    """

    tag: str
    words: str
    start: int
    stop: int


def extract_tags(doc: Doc) -> tuple[str, ...]:
    """Return at most `MAX_TAGS` nouns and names of a parsed text, in order, lower case."""
    return tuple(dict.fromkeys(term.tag for term in tag_spans(doc)))[:MAX_TAGS]


def tag_spans(doc: Doc) -> list[TagSpan]:
    """Return all tags of a parsed text with their spans: nouns in the singular, and whole names.

    A compound is a tag, and so is each noun before its last: "tomato seedling" and "tomato". What
    means something else without its other word is one tag: "ice cream".
    """
    from spacy.util import filter_spans  # the document is spaCy's, so spaCy is loaded

    runs = (list(run) for proper, run in groupby(doc, _in_name) if proper)
    names = filter_spans(
        [
            *(entity for entity in doc.ents if entity.label_ in ENTITY_TYPES),
            *(doc[run[0].i : run[-1].i + 1] for run in runs),
        ]
    )
    named = frozenset(token.i for name in names for token in name)
    nouns = (span for run in _compounds(doc, named) for span in _with_parts(doc, run))
    found = [_tag(span, _tag_text(span)) for span in names]
    found += [_tag(doc[start:stop], text) for start, stop, text in nouns]
    return [
        term
        for term in sorted(found, key=lambda term: (term.start, -term.stop))
        if term.tag
        and len(term.tag.split()) <= MAX_WORDS
        and term.tag not in _VAGUE_NOUNS
        and not is_interjection(term.words)
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
        if start <= term.start and term.stop <= stop and stems(term.words) <= held
    )
    return tuple(dict.fromkeys(tags))[:MAX_TAGS]


def circumstance_tags(text: str) -> tuple[str, ...]:
    """Return tags for the circumstances, such as "urgent" and "recurring"."""
    return tuple(name for name, pattern in CIRCUMSTANCES.items() if pattern.search(text))


def _tag(span: Span, text: str) -> TagSpan:
    return TagSpan(long_form(text), span.text, span.start_char, span.end_char)


def _compounds(doc: Doc, named: frozenset[int]) -> Iterator[list[tuple[int, int, str]]]:
    """Yield the nouns of each compound as (start, stop, text), a noun alone as a compound of one.

    Words joined by hyphens, and two words of `COMPOUNDS`, are one noun.

    Args:
        doc: The parsed text.
        named: Tokens that belong to a name, which are left out.
    """
    words = _words(doc)
    compound: list[tuple[int, int, str]] = []
    place = 0
    while place < len(words):
        pair = words[place : place + 2]
        whole = "-".join(map(_word_text, pair)) in COMPOUNDS and len(pair) == 2
        parts = pair if whole and _is_free(pair[-1], named) else pair[:1]
        noun = len(parts) == 2 or _is_noun(parts[0], named)
        if noun:
            text = " ".join(map(_word_text, parts))
            compound.append((parts[0].start, parts[-1].end, text))
        if compound and not (noun and parts[-1][-1].dep_ == "compound"):
            yield compound
            compound = []
        place += len(parts)
    if compound:
        yield compound


def _with_parts(
    doc: Doc, compound: Sequence[tuple[int, int, str]]
) -> Iterator[tuple[int, int, str]]:
    """Yield the last two nouns of a compound together, and each noun but the last.

    The last one is a tag of its own if it is alone, or a known compound: "vanilla ice cream".
    """
    *parts, last = compound
    parts = [part for part in parts if part[2] != last[2]]
    if parts:
        yield parts[-1][0], last[1], f"{parts[-1][2]} {last[2]}"
        yield from parts
    if not parts or last[2].replace(" ", "-") in COMPOUNDS:
        yield last


def _words(doc: Doc) -> list[Span]:
    """The words of a text; one that hyphens divide into several tokens is one word."""
    words: list[Span] = []
    start = 0
    while start < len(doc):
        stop = start + 1
        while (
            stop + 1 < len(doc)
            and doc[stop].text == "-"
            and not (doc[stop - 1].whitespace_ or doc[stop].whitespace_)
        ):
            stop += 2
        words.append(doc[start:stop])
        start = stop
    return words


def _is_noun(word: Span, named: frozenset[int]) -> bool:
    """Whether a word is a noun that may be a tag, and no part of a name."""
    return _is_free(word, named) and (len(word) > 1 or _is_tag_word(word[-1]))


def _is_free(word: Span, named: frozenset[int]) -> bool:
    """Whether a word is a noun, or a known compound with a hyphen, and no part of a name."""
    noun = word[-1].pos_ in ("NOUN", "PROPN") or word.text.lower() in COMPOUNDS
    return noun and named.isdisjoint(range(word.start, word.end))


def _word_text(word: Span) -> str:
    """A word in lower case, its last part in the singular if it is a noun."""
    *parts, last = word
    end = _singular(last) if last.pos_ == "NOUN" else last.lower_
    return "".join((*(token.lower_ for token in parts), end))


def _in_name(token: Token) -> bool:
    return (token.pos_ == "PROPN" or token.lower_ in ABBREVIATIONS) and _is_tag_word(token)


def _is_tag_word(token: Token) -> bool:
    dated = token.ent_type_ in ("DATE", "TIME")
    return (
        _VAGUE_NOUNS.isdisjoint((token.lower_, token.lemma_.lower()))
        and CALENDAR.isdisjoint((token.lower_, token.lemma_.lower()))
        and not (token.like_num or token.is_stop or dated)
        and (token.is_alpha or token.lower_ in ABBREVIATIONS)
        and (len(token) > 2 or (len(token) == 2 and token.is_upper))
    )


def _tag_text(span: Span) -> str:
    """Return the content words of a name, nouns in the singular."""
    words = [
        token
        for token in span
        if token.lower_ in ABBREVIATIONS
        or (token.pos_ in ("NOUN", "PROPN", "ADJ") and token.is_alpha and not token.is_stop)
    ]
    return " ".join(_singular(token) if token.pos_ == "NOUN" else token.lower_ for token in words)


def _singular(noun: Token) -> str:
    """The singular of a noun, or the noun itself if the dictionary has no singular of it.

    What the lemmatizer makes of words that it does not know is no word: "kubernete"; and "cookies"
    are no "cooky" if there is a "cookie".
    """
    word, lemma = noun.lower_, noun.lemma_.lower()
    if word in IRREGULAR:
        return IRREGULAR[word]
    nouns = noun.vocab.lookups.get_table(NOUNS)["noun"]
    stripped = word.removesuffix("s")
    forms = [lemma, stripped]
    if word.endswith("ies"):
        forms = [stripped, lemma]
    elif word.endswith("xes"):
        forms = [stripped.removesuffix("e"), lemma]
    return next((form for form in forms if form in nouns), word)
