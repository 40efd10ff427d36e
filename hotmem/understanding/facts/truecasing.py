"""What many recognisers leave out: capitals, and the ends of sentences.

The parser and the names depend on them.

Only capitals change, letter by letter, so every place in the text stays where it was.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from hotmem.temporal import CALENDAR
from hotmem.text.word_sets import wordlist
from hotmem.types.parse import Doc, Token
from hotmem.understanding.query.entities import ENTITY_TYPES, known_spans

_CAPITALISED: Final = CALENDAR | {"i"}

_SUBJECTS: Final = wordlist("i he she we they you my our his her their this that it there")
_JOINING: Final = frozenset({"ADP", "CCONJ", "SCONJ", "PART", "DET", "VERB", "AUX", "PRON"})
"""What a sentence does not end with, and a clause within it may follow."""

MIN_LETTERS: Final = 3
"""Letters of a text whose case tells anything."""


def lacks_case(text: str) -> bool:
    """Whether a text is all in small letters or all in capitals.

    Scripts without either have nothing to put back.
    """
    return sum(map(str.isalpha, text)) >= MIN_LETTERS and (text.islower() or text.isupper())


def sentence_starts(doc: Doc) -> list[int]:
    """Characters at which sentences begin.

    Where the parser sees one begin, and where a new subject follows what is complete without it.

    Args:
        doc: The text in small letters, parsed.
    """
    return [token.idx for token in doc if token.is_sent_start or _new_subject(token)]


def _new_subject(token: Token) -> bool:
    """Whether a word such as "I" or "my" begins a clause that nothing joins to the words before."""
    if token.i == 0 or token.lower_ not in _SUBJECTS or token.nbor(-1).pos_ in _JOINING:
        return False
    subject = token.head if token.dep_ == "poss" else token
    verb = subject.head
    if (
        subject.dep_ not in ("nsubj", "nsubjpass", "expl")
        or verb.i < token.i
        or any(child.dep_ == "mark" for child in verb.lefts)
    ):
        return False
    return verb.dep_ not in ("relcl", "acl") or token.nbor(-1).pos_ == "PROPN"


def truecase(doc: Doc, starts: Collection[int], known: Sequence[str] = ()) -> str:
    """The text with capitals at the start of sentences, names and "I".

    Args:
        doc: The text in small letters, parsed with named entities.
        starts: Characters at which sentences begin.
        known: Names the store knows of the speaker's.

    Returns:
        A text of the same length.
    """
    letters = list(doc.text)
    for place in (*starts, *_capitals(doc, known)):
        capital = letters[place].upper()
        if len(capital) == 1:
            letters[place] = capital
    return "".join(letters)


def _capitals(doc: Doc, known: Sequence[str]) -> Iterator[int]:
    """Places of the first letters of names and of "I"."""
    yield from (token.idx for token in doc if token.lower_ in _CAPITALISED or _named(token))
    for start, stop in known_spans(doc.text, known):
        yield from (
            place for place in range(start, stop) if place == start or doc.text[place - 1] == " "
        )


def _named(token: Token) -> bool:
    """Whether a word names someone or something, by its tag or as part of a named entity.

    Function words within names stay small.
    """
    return token.pos_ == "PROPN" or (
        token.ent_type_ in ENTITY_TYPES | {"NORP", "LANGUAGE"} and not token.is_stop
    )
