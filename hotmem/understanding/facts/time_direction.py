"""Whether a time that is mentioned is past or future, by the verb that governs it."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain
from typing import Final

from hotmem.temporal import Bound, Granularity, TimeMention, find_times
from hotmem.temporal.rescheduling import RESCHEDULING_VERBS
from hotmem.text.word_sets import word_sets, wordlist
from hotmem.types.parse import Doc, Span, Token
from hotmem.understanding.facts.former_times import current_times
from hotmem.understanding.facts.half_of_day import in_its_half
from hotmem.understanding.facts.lexicon import EVENT_NOUNS
from hotmem.understanding.facts.month_names import is_month_as_name
from hotmem.understanding.query.analyzer import FUTURE_WORDS, refers_to_future

_WORDS: Final = word_sets(__file__)

_COMMITMENT_VERBS: Final = _WORDS["commitment_verbs"]
"""Verbs whose infinitive is future even in the past tense: "I promised to drive them on Saturday".
"""

_EXPERIENCE_VERBS: Final = _WORDS["experience_verbs"]
"""Verbs whose perfect is past even with a day: "I've seen him on Tuesday"."""

_CHANGE_VERBS: Final = RESCHEDULING_VERBS | {"cancel"}
_SINCE: Final = re.compile(r"\bsince\s+(?:\w+\s+){1,3}$", re.IGNORECASE)
_BOOKING_VERBS: Final = wordlist("book reserve buy get give win make receive order")
_CAUSATIVE_VERBS: Final = wordlist("have get want need")
"""Verbs that govern a participle with an object of its own: "she's having her hip done"."""

_BARE_INFINITIVE_VERBS: Final = wordlist("make let have see hear watch feel notice help")
"""Verbs that govern an infinitive without "to" in their own tense: "they let me go in May"."""

_UNCHANGED_VERBS: Final = _WORDS["unchanged_verbs"]
"""Verbs whose past has the form of the present. With a time they are past: "I quit in May"."""

_BOOKED_NOUNS: Final = _WORDS["booked_nouns"]
"""What is booked for a future time."""

_TARGET_PREPOSITION: Final = re.compile(
    r"\b(?:for|to)\s+(?:(?:the|this|next|coming)\s+)*$", re.IGNORECASE
)
"""The end of the text before a target time: "a table for Friday", "moved it to Monday"."""

FAR_AHEAD: Final = timedelta(days=274)
"""Distance from which a date without a year is read as that of last year if the verb is ambiguous.
"""

_NAMED_MONTH: Final = re.compile(r"(?:in |early |late |mid[- ]?)*[a-z]+", re.IGNORECASE)
"""A month without a year and without a word such as "last"."""

_MONTHS: Final = frozenset({Granularity.MONTH, Granularity.SPAN, Granularity.SEASON})
"""A month, a part of one, or a season."""

_DURATION: Final = re.compile(
    r"(?:back\s+)?(?:with)?in\s+(?:\w+\s+){1,4}?(?:minutes?|hours?|days?|weeks?|months?|years?)",
    re.IGNORECASE,
)
_SCHEDULED_VERBS: Final = _WORDS["scheduled_verbs"]
"""Verbs whose simple present may refer to a future day."""

_PRESENT_TAGS: Final = frozenset({"VBP", "VBZ"})
_DEPENDENT_LABELS: Final = frozenset({"xcomp", "ccomp", "pcomp", "acl", "amod", "advcl", "conj"})
"""Labels of non-finite verbs, which take the tense of the verb that governs them."""


def resolve_times(doc: Doc, said_at: datetime) -> tuple[TimeMention, ...]:
    """Return the times of a text, each resolved as past or future, in order.

    The day or month in which somebody was born, given without a year, is left out, as its year is
    not known.

    Args:
        doc: The parsed text.
        said_at: When it was said.
    """
    behind, before = find_times(doc.text, said_at), find_times(doc.text, said_at, ahead=True)
    if behind == before:
        return tuple(_stated(doc, behind, said_at))
    ways = {mention.start: is_future(doc, mention) for mention in chain(behind, before)}
    past = {one.start: one for one in behind}
    for one in before:
        if ways[one.start] and one.start in past and one.yearly and _is_ambiguous(doc, one):
            ways[one.start] = not (
                one.interval.start - said_at > FAR_AHEAD
                and said_at - past[one.start].interval.end < FAR_AHEAD
            )
    chosen = [
        *(one for one in behind if not ways[one.start]),
        *(one for one in before if ways[one.start]),
    ]
    return tuple(_stated(doc, sorted(chosen, key=lambda mention: mention.start), said_at))


def _stated(doc: Doc, found: Sequence[TimeMention], said_at: datetime) -> Iterator[TimeMention]:
    """The mentions that are times of what is said, each in its half of the day."""
    for one in current_times(doc.text, found):
        if _is_time(doc, one):
            yield in_its_half(doc.text, one, said_at)


def _is_time(doc: Doc, mention: TimeMention) -> bool:
    return not (
        is_duration(doc, mention) or is_month_as_name(doc, mention) or _is_birth(doc, mention)
    )


def _is_birth(doc: Doc, mention: TimeMention) -> bool:
    """Whether a time is the day or month of a birth, without a year: "born on the 6th of May"."""
    words = doc.text[mention.start : mention.stop].strip(" .,;!?")
    month = mention.granularity in _MONTHS and _NAMED_MONTH.fullmatch(words)
    named = [token for token in doc if mention.start <= token.idx < mention.stop]
    return bool(mention.yearly or month) and any(
        verb.lower_ == "born" for verb in _verbs_above(named)
    )


def is_duration(doc: Doc, mention: TimeMention) -> bool:
    """Whether a time is a duration.

    "Customers pay in sixty days", "I finished it in ten minutes", but not "I fly in four days".
    """
    if not _DURATION.fullmatch(doc.text[mention.start : mention.stop]):
        return False
    named = [token for token in doc if mention.start <= token.idx < mention.stop]
    verb = next(_verbs_above(named), None) if named else None
    if verb is None:
        return False
    if any(_auxiliaries(verb)):
        return verb.tag_ == "VBN" and _is_perfect(verb) and not _is_booking(verb)
    if verb.tag_ in ("VBD", "VBN"):
        return verb.lower_ != verb.lemma_ and not _is_booking(verb)
    return verb.tag_ in _PRESENT_TAGS and verb.lemma_ not in _SCHEDULED_VERBS


def _is_perfect(verb: Token) -> bool:
    """Whether the verb is in the present perfect: "I've done it"."""
    helpers = list(_auxiliaries(verb))
    return any(
        token.lemma_ == "have" and token.tag_ in _PRESENT_TAGS for token in helpers
    ) and not any(token.tag_ == "MD" for token in helpers)


def _is_ambiguous(doc: Doc, mention: TimeMention) -> bool:
    """Whether the verb may be past as well: a perfect, or a form like "hurt"."""
    named = [token for token in doc if mention.start <= token.idx < mention.stop]
    verb = next(_verbs_above(named), None)
    if verb is None or _is_booking(verb):
        return False
    if _is_of_changed_event(named, verb):
        return True
    helpers = list(_auxiliaries(verb))
    either = (
        verb.tag_ in ("VBP", "VB")
        and verb.lemma_ not in ("be", *_SCHEDULED_VERBS)
        and not helpers
        and not _has_infinitive_marker(verb)
        and not _is_unchanged(verb)
    )
    return (_is_perfect(verb) or either) and not _is_target_time(doc.text, named)


def _has_infinitive_marker(verb: Token) -> bool:
    return any(child.tag_ == "TO" for child in verb.children)


def is_future(doc: Doc, mention: TimeMention) -> bool:
    """Whether a time was in the future when it was mentioned.

    The English perfect takes no definite past time: "I've booked a table for Friday" refers to the
    next Friday. Verbs of experience are an exception.

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
        return refers_to_future(sentence) or _is_event_note(sentence)
    if _is_of_changed_event(named, verb):
        return True
    if any(token.lower_ in FUTURE_WORDS for token in (*named, *verb.children)):
        return True
    if _SINCE.search(doc.text[: named[0].idx]):
        return False
    put = mention.bound is Bound.AT and _is_target_time(doc.text, named)
    return _refers_to_future(verb, mention.bound, put=put)


def _is_of_changed_event(named: list[Token], verb: Token) -> bool:
    """Whether a time belongs to an event that is off or moved: "my exam on Monday is cancelled"."""
    inside = {token.i for token in named}
    above = (token for token in named[0].ancestors if token.i not in inside and token.pos_ != "ADP")
    event = next(above, verb)
    return (
        event.pos_ in ("NOUN", "PROPN")
        and event.head == verb
        and event.dep_ in ("nsubj", "nsubjpass", "dobj")
        and verb.lemma_ in _CHANGE_VERBS
    )


def _refers_to_future(verb: Token, bound: Bound, *, put: bool) -> bool:
    helpers = list(_auxiliaries(verb))
    if any(token.lemma_ == "have" and token.tag_ in _PRESENT_TAGS for token in helpers):
        arranged = verb.lemma_ not in _EXPERIENCE_VERBS or put
        return (
            bound is not Bound.SINCE
            and arranged
            and not any(token.tag_ == "MD" for token in helpers)
        )
    if any(token.tag_ == "MD" for token in helpers):
        return not any(token.lemma_ == "have" for token in helpers)
    past = (
        verb.tag_ == "VBD" or any(token.tag_ == "VBD" for token in helpers) or _is_unchanged(verb)
    )
    if past:
        return put or _is_booking(verb)
    if helpers and any(token.tag_ in _PRESENT_TAGS for token in helpers):
        return True
    above = next(_verbs_above([verb.head]), None) if verb.dep_ in _DEPENDENT_LABELS else None
    if (
        verb.tag_ in ("VB", "VBG", "VBN")
        and above is not None
        and above != verb
        and (not _has_subject(verb) or _shares_tense(verb, above))
    ):
        return (verb.tag_ == "VB" and above.lemma_ in _COMMITMENT_VERBS) or _refers_to_future(
            above, bound, put=put
        )
    return put or verb.tag_ != "VBN"


def _shares_tense(verb: Token, above: Token) -> bool:
    """Whether a verb with a subject of its own takes the tense of the verb that governs it."""
    if verb.tag_ == "VBN":
        return above.lemma_ in _CAUSATIVE_VERBS
    return above.lemma_ in _BARE_INFINITIVE_VERBS and not _has_infinitive_marker(verb)


def _is_unchanged(verb: Token) -> bool:
    """Whether a finite verb has the form of its past: "I quit in May"."""
    return (
        verb.lower_ in _UNCHANGED_VERBS
        and _has_subject(verb)
        and not any(_auxiliaries(verb))
        and not _has_infinitive_marker(verb)
    )


def _verbs_above(tokens: list[Token]) -> Iterator[Token]:
    """Yield the lexical verbs that govern the words, innermost first."""
    for token in tokens:
        for one in (token, *token.ancestors):
            if one.pos_ in ("VERB", "AUX") and one.dep_ not in ("aux", "auxpass", "amod"):
                yield one


def _auxiliaries(verb: Token) -> Iterator[Token]:
    """Yield the auxiliaries of a verb, its own or shared: "I've booked a table and ordered"."""
    own = [
        child for child in verb.children if child.dep_ in ("aux", "auxpass") and child.tag_ != "TO"
    ]
    if own or verb.dep_ != "conj" or _has_subject(verb):
        yield from own
    elif verb.head.pos_ in ("VERB", "AUX"):
        yield from _auxiliaries(verb.head)


def _has_subject(verb: Token) -> bool:
    return any(child.dep_ in ("nsubj", "nsubjpass", "expl") for child in verb.children)


def _is_target_time(text: str, named: list[Token]) -> bool:
    """Whether something is scheduled for the time or moved to it."""
    first = next((token for token in named if token.pos_ not in ("ADP", "DET")), named[0])
    return bool(_TARGET_PREPOSITION.search(text[: first.idx]))


def _is_booking(verb: Token) -> bool:
    """Whether a verb with its object is a booking: "we were given tickets", "got a meeting"."""
    things = {child.lemma_.lower() for child in verb.children if child.dep_ == "dobj"}
    return (verb.lemma_ in _BOOKING_VERBS and bool(things & _BOOKED_NOUNS)) or (
        verb.lower_ == "got" and bool(things & EVENT_NOUNS)
    )


def _is_event_note(sentence: Span) -> bool:
    """Whether a sentence without a verb names an event: "Dentist on Thursday"."""
    return any(token.lemma_.lower() in EVENT_NOUNS for token in sentence) and not any(
        token.pos_ in ("VERB", "AUX") for token in sentence
    )
