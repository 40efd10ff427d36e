"""Whether a time that is mentioned is past or future, by the verb that governs it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain, zip_longest
from typing import Final

from hotmem.temporal import Bound, Granularity, TimeMention, find_times
from hotmem.temporal.dates import RESCHEDULED, RESCHEDULING_VERBS
from hotmem.temporal.units import MONTHS
from hotmem.text.word_sets import word_sets, wordlist
from hotmem.types import Interval
from hotmem.types.understanding import Doc, Span, Token
from hotmem.understanding.lexicon import ANIMATE, EVENT_NOUNS
from hotmem.understanding.query.analyzer import FUTURE_WORDS, refers_to_future

_TO_TIME: Final = re.compile(r"\s+to\s+\w", re.IGNORECASE)
_FROM: Final = re.compile(r"(?:back\s+)?from\s", re.IGNORECASE)
"""The first word of a former time after the verb: "moved it from Friday to Monday"."""

_TO: Final = re.compile(r"\s*to(?:\s+the)?\s*", re.IGNORECASE)
"""What is between the former and the new time: "moved the exam on 3 March to 10 March"."""

_PASSIVE: Final = re.compile(
    r"(?:['’]s?)?(?:\s+(?!(?:and|but|so|i|we|you|he|she|it|they)\b)\w+){0,4}?"
    r"(?:\s+(?:is|are|was|were|has|have|had|been|being|be|got|gets|will)|['’](?:s|ve))+\s",
    re.IGNORECASE,
)
"""What follows the time of an event that is moved, up to the verb: "Friday's dinner was moved"."""

_PLANNED: Final = re.compile(
    r"(?:\b(?:was|were)(?:\s+(?:originally|first|to\s+be|on|in|at|for|the))*"
    r"|\b(?:meant|supposed|due|planned|scheduled|booked)(?:\s+\w+){0,4})\s*$",
    re.IGNORECASE,
)
"""The words before the time of a plan that may have changed: "it was meant to be on Friday"."""

_CHANGED: Final = re.compile(r"\bnow\b", re.IGNORECASE)
_INSTEAD: Final = re.compile(r"\s*instead\b", re.IGNORECASE)
_DENIED: Final = re.compile(
    r"\b(?:is|was|are|were)(?:n['’]?t|\s+not)(?:\s+(?:on|in|at|until|the))*\s*$", re.IGNORECASE
)
_BUT: Final = re.compile(r"[\s,–—-]*(?:but\b|it['’]?s\b|it\s+is\b|they['’]?re\b)", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"[.!?;]\s")


def current_times(text: str, mentions: Sequence[TimeMention]) -> Iterator[TimeMention]:
    """Yield the times of a text without those that an event was moved from.

    Args:
        text: The text.
        mentions: Its times, in order.
    """
    for mention, following in zip_longest(mentions, mentions[1:]):
        if not _is_former(text, mention, following):
            yield mention


def _is_former(text: str, mention: TimeMention, following: TimeMention | None) -> bool:
    after_verb = RESCHEDULED.search(text, 0, mention.start)
    from_time = _FROM.match(text, mention.start, mention.stop)
    if after_verb and from_time and _TO_TIME.match(text, mention.stop):
        return True
    if following is None or _SENTENCE_END.search(text, mention.stop - 1, following.start):
        return False
    before, between = text[: mention.start], text[mention.stop : following.start]
    if after_verb and _TO.fullmatch(between):
        return True
    moved = RESCHEDULED.search(between)
    passive = _PASSIVE.match(between)
    if moved and passive and moved.start() <= passive.end():
        return True
    if _PLANNED.search(before):
        instead = _INSTEAD.match(text, following.stop)
        return bool(moved or instead or _CHANGED.search(between))
    return bool(_DENIED.search(before) and _BUT.match(between))


_JOINING: Final = frozenset({"CCONJ", "SCONJ", "PUNCT", "INTJ"})
"""Parts of speech before the subject of a clause."""

_NAMING: Final = frozenset({"call", "name"})

_MONTH_WORDS: Final = frozenset((*MONTHS, *(month[:3] for month in MONTHS)))

_RELATIVE: Final = frozenset({"yesterday", "today", "tomorrow", "tonight"})
"""Days that a capital in the middle of a sentence makes a title: "my favourite song is Yesterday".
"""


def is_name_alone(doc: Doc, mention: TimeMention) -> bool:
    """Whether a time is only the word for a month or a day, in the place of a name.

    Args:
        doc: The parsed text.
        mention: A time in it.
    """
    month = next((token for token in doc if token.idx == mention.start), None)
    words = doc.text[mention.start : mention.stop].strip(" .,;:!?")
    if month is None or words != month.text.rstrip("."):
        return False
    if month.lower_ in _RELATIVE:
        return month.text[0].isupper() and not month.is_sent_start
    if words.lower() not in _MONTH_WORDS:
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


HALF_DAY: Final = timedelta(hours=12)
NOON, EVENING = 12, 19
"""Hours between which a time without "am" or "pm" may mean the morning."""

EARLIEST_EVENING: Final = 6
"""Hour from which one before noon may mean the evening."""

_WAKE: Final = re.compile(r"\bwake\s+(?:me|us)\b(?:\s+(?:up|in|for)\b)?[\s,]*$", re.IGNORECASE)
_EVENING_EVENT: Final = re.compile(
    r"\b(?:dinner|supper|party|film|movie|cinema|concert|gig|theatre|theater|opera|drinks|pub)\b",
    re.IGNORECASE,
)
_HALF_OF_DAY: Final = re.compile(
    r"[ap]\.?m\b|noon|morning|evening|night|\b(?:0\d|1[2-9]|2\d)\b", re.IGNORECASE
)


def in_its_half(text: str, mention: TimeMention, said_at: datetime) -> TimeMention:
    """Return a time of day without "am" or "pm" in the half of the day that its event tells.

    An hour at which somebody is to be woken is in the morning, that of a dinner in the evening.

    Args:
        text: The text.
        mention: A time in it.
        said_at: When it was said.
    """
    start, _ = mention.local
    hour = text[mention.start : mention.stop]
    if mention.granularity is not Granularity.MINUTE or _HALF_OF_DAY.search(hour):
        return mention
    before = text[: mention.start]
    if NOON <= start.hour < EVENING and _WAKE.search(before):
        over = mention.clock_only and start - HALF_DAY <= said_at
        moved = HALF_DAY if over else -HALF_DAY
    elif EARLIEST_EVENING <= start.hour < NOON and _EVENING_EVENT.search(
        before[before.rfind(".") + 1 :]
    ):
        moved = HALF_DAY
    else:
        return mention
    return replace(
        mention,
        interval=Interval(mention.interval.start + moved, mention.interval.end + moved),
    )


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
    return not (is_duration(doc, mention) or is_name_alone(doc, mention) or _is_birth(doc, mention))


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
