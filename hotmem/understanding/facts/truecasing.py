"""Truecasing: restore the capitals and sentence ends that speech recognisers leave out.

Only the case of letters changes, so offsets stay valid.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from hotmem.temporal import CALENDAR
from hotmem.text.word_sets import wordlist
from hotmem.types.parse import Doc, Token
from hotmem.understanding.facts.spelled_codes import is_spelt
from hotmem.understanding.query.entities import ENTITY_TYPES, known_spans

_CAPITALISED: Final = CALENDAR | {"i"}

_SUBJECTS: Final = wordlist("i he she we they you my our his her their this that it there")
_CONTINUING_POS: Final = frozenset({"ADP", "CCONJ", "SCONJ", "PART", "DET", "VERB", "AUX", "PRON"})
"""Parts of speech that do not end a sentence."""

MIN_LETTERS: Final = 3
"""Letters below which the case of a text means nothing."""


def lacks_case(text: str) -> bool:
    """Whether a text is all lower case or all upper case."""
    return sum(map(str.isalpha, text)) >= MIN_LETTERS and (text.islower() or text.isupper())


def sentence_starts(doc: Doc) -> list[int]:
    """Return the offsets at which sentences begin.

    Where the parser begins one, and where a new subject follows a complete clause.

    Args:
        doc: The text in lower case, parsed.
    """
    return [token.idx for token in doc if token.is_sent_start or _starts_new_sentence(token)]


def _starts_new_sentence(token: Token) -> bool:
    """Whether a word like "I" or "my" begins a clause that nothing joins to the previous one."""
    if token.i == 0 or token.lower_ not in _SUBJECTS or token.nbor(-1).pos_ in _CONTINUING_POS:
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
    """Capitalise sentence starts, names and "I".

    Args:
        doc: The text in lower case, parsed with named entities.
        starts: Offsets at which sentences begin.
        known: Names known from earlier turns.

    Returns:
        A text of the same length.
    """
    letters = list(doc.text)
    for place in (*starts, *_capital_offsets(doc, known)):
        capital = letters[place].upper()
        if len(capital) == 1:
            letters[place] = capital
    return "".join(letters)


def _capital_offsets(doc: Doc, known: Sequence[str]) -> Iterator[int]:
    """Yield the offsets of the first letters of names and of "I"."""
    yield from (
        token.idx
        for token in doc
        if (token.lower_ in _CAPITALISED or _is_name_token(token)) and not _is_letter(token)
    )
    for start, stop in known_spans(doc.text, known):
        yield from (
            place for place in range(start, stop) if place == start or doc.text[place - 1] == " "
        )


def _is_letter(token: Token) -> bool:
    """Whether a token is one of several letters that are read out."""
    return len(token) == 1 and is_spelt(token)


def _is_name_token(token: Token) -> bool:
    """Whether a word is a name by its tag or its named entity, and no stop word."""
    return token.pos_ == "PROPN" or (
        token.ent_type_ in ENTITY_TYPES | {"NORP", "LANGUAGE"} and not token.is_stop
    )
