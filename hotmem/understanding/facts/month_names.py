"""Months that are no time: names of people ("my cousin April"), and what a sentence is about.

Without its year or day, a month is a time after a preposition, another word of time or a whole
clause; directly before its verb it is who or what does something.
"""

from typing import Final

from hotmem.temporal import TimeMention
from hotmem.temporal.units import MONTHS
from hotmem.types.parse import Doc, Token
from hotmem.understanding.animate_nouns import ANIMATE

_JOINING: Final = frozenset({"CCONJ", "SCONJ", "PUNCT", "INTJ"})
"""Parts of speech before the subject of a clause."""

_NAMING: Final = frozenset({"call", "name"})


def is_month_as_name(doc: Doc, mention: TimeMention) -> bool:
    """Whether a time is only the word for a month, in the place of a name.

    Args:
        doc: The parsed text.
        mention: A time in it.
    """
    month = next((token for token in doc if token.idx == mention.start), None)
    words = doc.text[mention.start : mention.stop].strip(" .,;:!?")
    if month is None or month.lower_ not in MONTHS or words != month.text:
        return False
    before = doc[month.i - 1] if month.i else None
    after = doc[month.i + 1] if month.i + 1 < len(doc) else None
    if before is not None and (before.lower_ == "with" or _is_person(before)):
        return True
    if before is not None and before.is_punct and month.dep_ == "appos" and _is_person(month.head):
        return True
    if month.dep_ in ("oprd", "attr") and month.head.i < month.i:
        return month.head.lemma_ in _NAMING or _is_named(month.head)
    opens = before is None or before.pos_ in _JOINING or month.is_sent_start
    return bool(opens) and after is not None and _is_finite(after)


def _is_person(word: Token) -> bool:
    """Whether a word is a noun for a person or pet that is somebody's: "my cousin"."""
    return word.lemma_.lower() in ANIMATE and any(
        one.tag_ in ("PRP$", "POS") for one in word.doc[max(word.i - 3, word.sent.start) : word.i]
    )


def _is_named(verb: Token) -> bool:
    """Whether the subject of a verb is a name: "her name is"."""
    return any(one.dep_ == "nsubj" and one.lemma_ == "name" for one in verb.children)


def _is_finite(word: Token) -> bool:
    return word.tag_ in ("VBD", "VBZ", "VBP", "MD") or (word.pos_ == "AUX" and word.tag_ != "VBG")
