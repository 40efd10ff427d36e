"""Entity recognition: spaCy's entities, runs of proper nouns, and stored names."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from hotmem.temporal import CALENDAR
from hotmem.text.word_sets import wordlist
from hotmem.types.understanding import Doc, Span, Token
from hotmem.understanding.animate_nouns import ELDERS

MAX_NGRAM: Final = 3
"""Length of the longest n-gram."""

_WORD: Final = re.compile(r"[\w&.'’-]*\w")
_POSSESSIVE: Final = re.compile(r"['’]s?(?!\w)")

ENTITY_TYPES: Final = frozenset(
    {"PERSON", "ORG", "GPE", "LOC", "FAC", "EVENT", "PRODUCT", "WORK_OF_ART"}
)
"""OntoNotes entity types that are names; dates, quantities and nationalities are not."""

_TIMES: Final = CALENDAR | wordlist(
    "march may today tomorrow yesterday tonight mon tue wed thu fri sat sun jan feb mar apr "
    "jun jul aug sep sept oct nov dec am pm"
)
_NOT_NAMES: Final = ELDERS | wordlist(
    "hi hello hey thanks thank ok okay yes yeah yep nope no wow oh ah hmm haha lol omg bye "
    "cheers congrats congratulations sorry please "
    "sure absolutely definitely great awesome cool nice aww yay whoa dear btw idk imo god gosh "
    "alexa siri good well best mr mrs ms dr i im"
)
_INNER: Final = re.compile(r"(?<=\w)['’](?=\w)")
"""The apostrophe within a name: "O'Brien"."""

_QUOTED: Final = re.compile(r"^\W+|(?:['’]s)?\W*$")


def find_entities(doc: Doc, known: Sequence[str] = ()) -> tuple[str, ...]:
    """Find the names in an utterance, as written, in order, without duplicates.

    Args:
        doc: The parsed utterance.
        known: Stored names, which match in any letter case, as whole words.
    """
    spans = sorted(
        (*known_spans(doc.text, known), *_named_spans(doc)), key=lambda span: (span[0], -span[1])
    )
    names: dict[str, str] = {}
    stop = -1
    for first, last in spans:
        if first < stop:
            continue
        stop = last
        name = doc.text[first:last]
        names.setdefault(name.casefold(), name)
    return tuple(names.values())


def is_name(token: Token) -> bool:
    """Whether a token is part of a name: a capitalised proper noun, not a time or greeting."""
    return token.pos_ == "PROPN" and token.text[:1].isupper() and _can_be_name(token)


def _can_be_name(token: Token) -> bool:
    return (
        token.lower_ not in _TIMES
        and token.lower_ not in _NOT_NAMES
        and len(token) > 1
        and _INNER.sub("", token.text).isalpha()
    )


def _named_spans(doc: Doc) -> Iterator[tuple[int, int]]:
    taken = [False] * len(doc)
    for entity in doc.ents:
        words = [token for token in entity if _can_be_name(token)]
        if (
            entity.label_ in ENTITY_TYPES
            and words
            and any(token.pos_ == "PROPN" and not token.is_lower for token in words)
        ):
            first = entity[1:] if entity[0].pos_ in ("DET", "PRON") and len(entity) > 1 else entity
            for token in entity:
                taken[token.i] = True
            yield _trimmed(first)
    start: int | None = None
    for index in range(len(doc) + 1):
        named = index < len(doc) and not taken[index] and is_name(doc[index])
        if named and start is None:
            start = index
        elif not named and start is not None:
            yield doc[start].idx, doc[index - 1].idx + len(doc[index - 1])
            start = None


def _trimmed(span: Span) -> tuple[int, int]:
    """The character span without quotes, punctuation and possessive endings at its ends."""
    text = span.text
    match = re.search(r"\w", text)
    head = match.start() if match else 0
    tail = _QUOTED.sub("", text[head:])
    return span.start_char + head, span.start_char + head + (len(tail) or len(text) - head)


def known_spans(text: str, known: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Find the character spans of names in a text, in any letter case, as whole words."""
    lowered = text.casefold()
    if len(lowered) != len(text):
        return
    for name in known:
        folded = name.casefold()
        start = lowered.find(folded) if folded else -1
        while start >= 0:
            stop = start + len(folded)
            if not (lowered[start - 1 : start].isalnum() or lowered[stop : stop + 1].isalnum()):
                yield start, stop
            start = lowered.find(folded, stop)


def word_ngrams(text: str) -> tuple[str, ...]:
    """Every n-gram of one to `MAX_NGRAM` words, without possessive endings and duplicates."""
    words = _WORD.findall(_POSSESSIVE.sub("", text))
    runs = (
        " ".join(words[start : start + size])
        for size in range(1, MAX_NGRAM + 1)
        for start in range(len(words) - size + 1)
    )
    return tuple(dict.fromkeys(runs))
