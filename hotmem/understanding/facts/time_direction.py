"""Whether a time that is named lies behind who speaks or is still to come, by the verb that it belongs to."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import chain
from typing import Final

from hotmem.temporal import Bound, TimeMention, find_times
from hotmem.text.word_sets import wordlist
from hotmem.types.parse import Doc, Span, Token
from hotmem.understanding.facts.relations import EVENT_NOUNS
from hotmem.understanding.query.analyzer import FUTURE_WORDS, refers_to_future

_COMMITTING: Final = wordlist(
    "promise agree decide arrange offer plan ask tell invite remind volunteer choose"
)
"""Verbs after which, in the past too, "to" leads to what was still to come then: "I promised to
drive them on Saturday"."""

_EXPERIENCED: Final = wordlist(
    "be see have do go come watch eat visit hear meet finish recover spend sleep walk"
)
"""Verbs whose perfect is said of the past with its day all the same: "I've seen him on Tuesday"."""

_SINCE: Final = re.compile(r"\bsince\s+(?:\w+\s+){1,3}$", re.IGNORECASE)
_SECURING: Final = wordlist("book reserve buy get give win make receive order")
_SECURED: Final = wordlist(
    "ticket seat place booking invitation invite reservation slot appointment"
)
"""What one secures for a time to come, and how."""

_MEANT_FOR: Final = re.compile(r"\b(?:for|to)\s+(?:(?:the|this|next|coming)\s+)*$", re.IGNORECASE)
"""What stands before a time that something is meant for or put to: "I booked a table for
Friday", "they moved it to Monday"."""

FAR_AHEAD: Final = timedelta(days=274)
"""From when on a date without a year is rather that of the other year, where the verb leaves it
open."""

_TERM: Final = re.compile(
    r"(?:back\s+)?(?:with)?in\s+(?:\w+\s+){1,4}?(?:minutes?|hours?|days?|weeks?|months?|years?)",
    re.IGNORECASE,
)
_SCHEDULED: Final = wordlist(
    "be have need want fly leave start begin arrive come go move open close end finish expire return retire graduate turn travel sail depart launch "
    "compete play meet see visit marry get drive head"
)
"""Verbs whose plain present is said of one day to come."""

_HAVE: Final = frozenset({"VBP", "VBZ"})
_GOVERNED: Final = frozenset({"xcomp", "ccomp", "pcomp", "acl", "amod", "advcl", "conj"})
"""Relations to another word under which a verb without a tense of its own has that of the verb
above it."""


def resolve_times(doc: Doc, said_at: datetime) -> tuple[TimeMention, ...]:
    """The times of a text, each read as past or as to come, in order.

    Args:
        doc: The parsed text.
        said_at: When it was said.
    """
    behind, before = find_times(doc.text, said_at), find_times(doc.text, said_at, ahead=True)
    if behind == before:
        return tuple(one for one in behind if not is_duration(doc, one))
    ways = {mention.start: is_future(doc, mention) for mention in chain(behind, before)}
    past = {one.start: one for one in behind}
    for one in before:
        if ways[one.start] and one.start in past and one.yearly and _unclear(doc, one):
            ways[one.start] = not (
                one.interval.start - said_at > FAR_AHEAD
                and said_at - past[one.start].interval.end < FAR_AHEAD
            )
    chosen = [
        *(one for one in behind if not ways[one.start]),
        *(one for one in before if ways[one.start]),
    ]
    return tuple(
        sorted(
            (one for one in chosen if not is_duration(doc, one)), key=lambda mention: mention.start
        )
    )


def is_duration(doc: Doc, mention: TimeMention) -> bool:
    """Whether a time is how long something takes.

    "customers pay in sixty days" is of no day, "I fly in four days" is.
    """
    if not _TERM.fullmatch(doc.text[mention.start : mention.stop]):
        return False
    named = [token for token in doc if mention.start <= token.idx < mention.stop]
    verb = next(_verbs_above(named), None) if named else None
    return (
        verb is not None
        and verb.tag_ in _HAVE
        and verb.lemma_ not in _SCHEDULED
        and not any(_helpers(verb))
    )


def _unclear(doc: Doc, mention: TimeMention) -> bool:
    """Whether the verb of a time to come may as well be of what is past.

    A perfect, and a form that may be either ("I hurt my back").
    """
    verb = next(
        _verbs_above([token for token in doc if mention.start <= token.idx < mention.stop]), None
    )
    if verb is None or _secures(verb):
        return False
    helpers = list(_helpers(verb))
    perfect = any(token.lemma_ == "have" and token.tag_ in _HAVE for token in helpers) and not any(
        token.tag_ == "MD" for token in helpers
    )
    either = (
        verb.tag_ in ("VBP", "VB")
        and verb.lemma_ not in ("be", *_SCHEDULED)
        and not helpers
        and not _has_to(verb)
    )
    return (perfect or either) and not _put_to(
        doc.text, [token for token in doc if mention.start <= token.idx < mention.stop]
    )


def _has_to(verb: Token) -> bool:
    return any(child.tag_ == "TO" for child in verb.children)


def is_future(doc: Doc, mention: TimeMention) -> bool:
    """Whether a time was still to come when it was named.

    English has no definite past time beside the perfect: "I've booked a table for Friday" is of the
    Friday to come. What one has been through is told with its day all the same.

    Args:
        doc: The parsed text.
        mention: A time in it.
    """
    named = [token for token in doc if mention.start <= token.idx < mention.stop]
    if not named:
        return False
    sentence = named[0].sent
    verb = next(_verbs_above(named), None)
    if verb is None:
        return refers_to_future(sentence) or _notes_event(sentence)
    if any(token.lower_ in FUTURE_WORDS for token in (*named, *verb.children)):
        return True
    if _SINCE.search(doc.text[: named[0].idx]):
        return False
    put = mention.bound is Bound.AT and _put_to(doc.text, named)
    return _tells_ahead(verb, mention.bound, put=put)


def _tells_ahead(verb: Token, bound: Bound, *, put: bool) -> bool:
    helpers = list(_helpers(verb))
    if any(token.lemma_ == "have" and token.tag_ in _HAVE for token in helpers):
        arranged = verb.lemma_ not in _EXPERIENCED or put
        return (
            bound is not Bound.SINCE
            and arranged
            and not any(token.tag_ == "MD" for token in helpers)
        )
    if any(token.tag_ == "MD" for token in helpers):
        return not any(token.lemma_ == "have" for token in helpers)
    past = verb.tag_ == "VBD" or any(token.tag_ == "VBD" for token in helpers)
    if past:
        return put or _secures(verb)
    if helpers and any(token.tag_ in _HAVE for token in helpers):
        return True
    above = next(_verbs_above([verb.head]), None) if verb.dep_ in _GOVERNED else None
    if (
        verb.tag_ in ("VB", "VBG", "VBN")
        and above is not None
        and above != verb
        and not _has_subject(verb)
    ):
        return (verb.tag_ == "VB" and above.lemma_ in _COMMITTING) or _tells_ahead(
            above, bound, put=put
        )
    return put or verb.tag_ != "VBN"


def _verbs_above(tokens: list[Token]) -> Iterator[Token]:
    """The verbs that carry what is said, from the words upwards."""
    for token in tokens:
        for one in (token, *token.ancestors):
            if one.pos_ in ("VERB", "AUX") and one.dep_ not in ("aux", "auxpass", "amod"):
                yield one


def _helpers(verb: Token) -> Iterator[Token]:
    """The helping verbs of a verb, its own or those that it shares.

    "I've booked a table and ordered a cake".
    """
    own = [
        child for child in verb.children if child.dep_ in ("aux", "auxpass") and child.tag_ != "TO"
    ]
    if own or verb.dep_ != "conj" or _has_subject(verb):
        yield from own
    elif verb.head.pos_ in ("VERB", "AUX"):
        yield from _helpers(verb.head)


def _has_subject(verb: Token) -> bool:
    return any(child.dep_ in ("nsubj", "nsubjpass", "expl") for child in verb.children)


def _put_to(text: str, named: list[Token]) -> bool:
    """Whether something is meant for the time, or put to it."""
    first = next((token for token in named if token.pos_ not in ("ADP", "DET")), named[0])
    return bool(_MEANT_FOR.search(text[: first.idx]))


def _secures(verb: Token) -> bool:
    """Whether a verb tells what one has got for a time to come.

    "we were given tickets for Saturday's match", "got a meeting on Friday".
    """
    things = {child.lemma_.lower() for child in verb.children if child.dep_ == "dobj"}
    return (verb.lemma_ in _SECURING and bool(things & _SECURED)) or (
        verb.lower_ == "got" and bool(things & EVENT_NOUNS)
    )


def _notes_event(sentence: Span) -> bool:
    """Whether a sentence without a verb names what takes place: "Dentist on Thursday"."""
    return any(token.lemma_.lower() in EVENT_NOUNS for token in sentence) and not any(
        token.pos_ in ("VERB", "AUX") for token in sentence
    )
