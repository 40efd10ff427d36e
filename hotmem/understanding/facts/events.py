"""The times of events, plans and reminders."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from itertools import islice, pairwise
from typing import Final

from hotmem.temporal import Bound, Granularity, TimeMention, find_times
from hotmem.types import Category, EventTime, Interval, Kind, Statement, Understanding
from hotmem.types.understanding import Doc, Token
from hotmem.understanding.facts.relations import IS_REMINDED, PLANS_TO
from hotmem.understanding.facts.third_person import (
    FIRST_PERSON_PRONOUNS,
    sentence,
    to_third_person,
)
from hotmem.understanding.facts.time_direction import (
    current_times,
    in_its_half,
    resolve_times,
)

_CONTENT: Final = frozenset({"NOUN", "PROPN", "VERB", "NUM"})
"""Parts of speech of which an answer that takes over a time has a word: not "yes" or "maybe"."""


def read_event_times(said_at: datetime, mentions: Iterable[TimeMention]) -> Iterator[EventTime]:
    """Yield the event times of a turn, in order.

    "Since March" extends to `said_at`. Open intervals ("before Friday", "until May") are left out.

    Args:
        said_at: When it was said.
        mentions: Its times, resolved as past or future.
    """
    for mention in mentions:
        found = mention.interval
        if mention.bound is Bound.SINCE and found.start < said_at:
            yield EventTime(
                mention.start, mention.stop, Interval(found.start, max(said_at, found.end))
            )
        elif mention.bound is Bound.AT:
            yield EventTime(mention.start, mention.stop, found)


def answered_times(question: Doc, answer: Doc, said_at: datetime) -> tuple[EventTime, ...]:
    """The event time of an answer that names none: the one of its question, for all its words.

    "What's on tomorrow?" – "Eye clinic at ten."

    Args:
        question: The parsed turn before, whose last sentence may be a question.
        answer: The parsed answer.
        said_at: When the answer was said.
    """
    *_, last = question.sents
    times = tuple(read_event_times(said_at, resolve_times(last.as_doc(), said_at)))
    takes = "?" in last.text and any(token.pos_ in _CONTENT for token in answer)
    if not takes or len(times) != 1:
        return ()
    return (EventTime(0, len(answer.text), times[0].interval),)


DAY: Final = timedelta(days=1)
_SENTENCE_END: Final = re.compile(r"[.!?](?:\s|$)")


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan or a reminder.

    Attributes:
        statement: The statement, of kind "reminder".
        times: Its times, as event times of its turn; none if the words name none.
    """

    statement: Statement
    times: tuple[EventTime, ...]


def upcoming_times(text: str, said_at: datetime) -> tuple[TimeMention, ...]:
    """The times of a plan, read as future, times of day included.

    An hour at which somebody is to be woken is in the morning, that of a dinner in the evening.
    """
    found = find_times(text, said_at, ahead=True, include_clock_times=True)
    placed = [day for one in found if (day := _on_its_day(text, one, found, said_at)) is not None]
    return tuple(in_its_half(text, one, said_at) for one in current_times(text, placed))


def _on_its_day(
    text: str, mention: TimeMention, found: Sequence[TimeMention], said_at: datetime
) -> TimeMention | None:
    """A time of day on the day named before in its sentence: "it's on Sunday, we leave at six".

    None if the sentence names another day in another way, so that the day is uncertain.
    """
    if not mention.clock_only:
        return mention
    others = [
        one
        for one in found
        if not one.clock_only and not _SENTENCE_END.search(text, *_between(one, mention))
    ]
    if not others:
        return mention
    day = others[-1]
    if day.start > mention.start or day.granularity is not Granularity.DAY or len(others) > 1:
        return None
    words = text[day.start : day.stop].rstrip(" .,;!?")
    whole = find_times(f"{words} {text[mention.start : mention.stop]}", said_at, ahead=True)
    if len(whole) != 1 or whole[0].granularity is not Granularity.MINUTE:
        return None
    return replace(mention, interval=whole[0].interval, clock_only=False)


def _between(one: TimeMention, other: TimeMention) -> tuple[int, int]:
    """The characters between two times, with the last one of the earlier."""
    first, last = sorted((one, other), key=lambda mention: mention.start)
    return max(first.stop - 1, 0), last.start


def plan_time(mention: TimeMention, said_at: datetime) -> Interval:
    """The time for which a plan with such a time is to be known.

    "Before Friday" is for Thursday and Friday, "before four" for the day until four; "after Friday"
    is for Saturday. Other times are those of the words.

    Args:
        mention: A time, resolved as future.
        said_at: When it was said, in the speaker's time zone.
    """
    found = mention.interval
    match mention.bound:
        case Bound.BEFORE:
            if mention.granularity in (Granularity.MINUTE, Granularity.PART):
                local = found.start.astimezone(mention.zone)
                first = datetime.combine(local.date(), time(), mention.zone)
            else:
                first = found.start - DAY
            last = min(found.end, found.start + DAY)
            return Interval(min(max(first, said_at), found.start).astimezone(last.tzinfo), last)
        case Bound.AFTER:
            return Interval(found.end, found.end + DAY)
        case _:
            return found


def plan_statement(
    doc: Doc,
    start: int,
    stop: int,
    speaker: str,
    said_at: datetime,
    *,
    hedged: bool = False,
    entities: Sequence[str] = (),
) -> Plan:
    """Make a plan or a reminder of words that are known to be one.

    Args:
        doc: The parsed turn.
        start: First character of the words.
        stop: One past the last character.
        speaker: The speaker's name, which replaces "I" and "my".
        said_at: When it was said, in the speaker's time zone.
        hedged: Whether it was said with doubt.
        entities: Names in the turn.
    """
    mentions = upcoming_times(doc.text, said_at)
    own = [one for one in mentions if one.start < stop and one.stop > start]
    if not own:
        own = [
            replace(one, start=start + one.start, stop=start + one.stop)
            for one in upcoming_times(doc.text[start:stop], said_at)
        ]
        mentions = (*mentions, *own)
    around = doc.char_span(start, stop, alignment_mode="expand")
    if not own and around is not None:
        first, last = around[0].sent.start_char, around[-1].sent.end_char
        own = [one for one in mentions if first <= one.start < last]
    first, last = (
        min([start, *(one.start for one in own)]),
        max([stop, *(one.stop for one in own)]),
    )
    words = [token for token in doc if start <= token.idx < stop]
    said = to_third_person(words, speaker, mentions=mentions)
    names_speaker = any(token.lower_ in FIRST_PERSON_PRONOUNS for token in words)
    lacks_subject = bool(words) and words[0].tag_ in ("VB", "TO") and not names_speaker
    text = sentence(
        *((speaker, "wants to be reminded") if lacks_subject else ()),
        *(("to",) if lacks_subject and words[0].tag_ == "VB" else ()),
        said,
    )
    times = tuple(EventTime(one.start, one.stop, plan_time(one, said_at)) for one in own)
    statement = replace(
        PLANS_TO.statement(speaker, said, text, first, last),
        hedged=hedged,
        entities=tuple(name for name in entities if name in text),
    )
    return Plan(statement, times)


def mark_reminders(doc: Doc, understanding: Understanding, said_at: datetime) -> Understanding:
    """Give reminders their kind, whatever they were classified as, and add their times.

    Args:
        doc: The parsed turn.
        understanding: What was read of it, classified.
        said_at: When it was said, in the speaker's time zone.
    """
    if all(one.relation != IS_REMINDED.name for one in understanding.statements):
        return understanding
    upcoming = upcoming_times(doc.text, said_at)
    times = {one.start: one for one in understanding.event_times}
    marked = []
    for statement in understanding.statements:
        if statement.relation == IS_REMINDED.name:
            statement = replace(statement, kind=Kind.REMINDER, category=Category.REMINDERS)
            times |= {
                one.start: EventTime(one.start, one.stop, plan_time(one, said_at))
                for one in upcoming
                if one.start < statement.stop and one.stop > statement.start
            }
        marked.append(statement)
    return replace(
        understanding,
        statements=tuple(marked),
        event_times=tuple(times[start] for start in sorted(times)),
    )


MAX_REQUESTS: Final = 12
"""Requests of one turn that are read, the first ones."""

MAX_CHARACTERS: Final = 240
"""Characters of the longest request; a run-on sentence is cut off."""

_NOT: Final = r"(?:do\s*n['’]?t|do\s+not)"
_REQUEST: Final = re.compile(
    r"(?<![\w'’-])(?:"
    r"(?:remind|ping|nudge|poke|prompt|alert|(?P<wake>wake))\s+(?:me|us)(?:\s+up)?"
    r"|(?:(?:set|create|make|add|put|give)\s+(?:me\s+|up\s+|in\s+)*)?(?:an?\s+|another\s+)?reminder"
    r"(?=\s+(?:for|to|on|at|in|about|that)\b)"
    rf"|{_NOT}\s+(?:let\s+(?:me|us)\s+)?forget"
    r"|(?P<own>(?:must|should|(?:have|need|got)\s+to|gotta)\s+remember(?=\s+to\b)"
    r"|(?:must\s*n['’]?t|must\s+not|can\s*n['’]?o?t|better\s+not)\s+forget)"
    r")(?![\w'’-])",
    re.IGNORECASE,
)
_ASKED_YOU: Final = re.compile(r"\b(?:can|could|will|would|please)\s+you\s+(?:please\s+)?$", re.I)
_TO: Final = re.compile(r"\byou\s+to\s+$", re.IGNORECASE)
_NO_REQUEST: Final = re.compile(
    r"(?:\b(?:i|you|we|they|he|she|it|that|this|which|who|to|not|never|stop|always|did|does"
    r"|don['’]?t|(?:sa(?:id|ys)|goes|(?:told|tells|asked)\s+\w+)[\s,:]*)|[\"“‘])\s*$",
    re.IGNORECASE,
)
"""The end of the text before words that are no request: "they remind", "she said don't forget"."""

_QUESTION: Final = re.compile(
    r"\s*(?:again\b|(?:about\s+|of\s+)?(?:what|who|whose|whom|where|why|how|which|whether)\b"
    r"|when\b(?!\s+(?:i|we|he|she|they|it)\b.*(?<!have)(?<!need)(?<!got)(?<!going)\s+to\s+\w))",
    re.IGNORECASE | re.DOTALL,
)
"""What follows a request to be told: "remind me what she said", "remind me when it starts"."""

_TOPIC: Final = re.compile(r"\s*(?:about|of)\b", re.IGNORECASE)
_LINKED: Final = re.compile(
    r"(?:to|about|of|that|when|if|every|as|for|once|after|before)\b", re.IGNORECASE
)
"""The first word of a complement that needs no other word before it."""

_GAP: Final = re.compile(r"[\s,]*(?:(?:please|can|could|will|would|you|just)[\s,]+)*")
_FINITE: Final = frozenset({"VBZ", "VBP", "VBD", "MD"})
_EDGES: Final = " \t\n,;:.!?-–—"
_JOINING: Final = re.compile(r"(?:[\s,;]+(?:and|but|so|or|then|please|okay|ok))+[\s,;.!?]*$", re.I)


@dataclass(frozen=True, slots=True)
class _Request:
    """A request.

    Attributes:
        start: Its first character, of a time before it if there is one.
        verb: The first character of the words that ask.
        rest: The first character of what it is about.
        stop: One past its last character.
        wake: Whether it asks to be woken.
    """

    start: int
    verb: int
    rest: int
    stop: int
    wake: bool


def read_reminders(
    doc: Doc, speaker: str, mentions: Sequence[TimeMention], entities: Sequence[str]
) -> Iterator[Statement]:
    """Yield what the speaker wants to be reminded of.

    "Remind me of her name" asks for an answer; with a time it is a request.

    Args:
        doc: The parsed turn.
        speaker: The speaker's name.
        mentions: Its times, resolved as future, with times of day.
        entities: Names in the turn.
    """
    asked = (match for match in _REQUEST.finditer(doc.text) if _is_asked(doc.text, match))
    matches = list(islice(asked, MAX_REQUESTS))
    for place, match in enumerate(matches):
        end = matches[place + 1].start() if place + 1 < len(matches) else len(doc.text)
        request = _bounded(doc, match, end, mentions)
        timed = any(
            mention.start < request.stop and mention.stop > request.start for mention in mentions
        )
        about = doc.text[request.rest : request.stop]
        if (request.wake or _TOPIC.match(about)) and not timed:
            continue
        text = _text(doc, request, speaker, mentions)
        if text is not None:
            yield replace(
                IS_REMINDED.statement(speaker, text[1], text[0], request.start, request.stop),
                entities=tuple(name for name in entities if name in text[0]),
            )


def _is_asked(text: str, match: re.Match[str]) -> bool:
    before, after = text[: match.start()], text[match.end() :]
    asked = _ASKED_YOU.search(before) or _TO.search(before) or not _NO_REQUEST.search(before)
    own = match["own"]
    return bool(own or asked) and not _QUESTION.match(after)


def _bounded(doc: Doc, match: re.Match[str], end: int, mentions: Sequence[TimeMention]) -> _Request:
    """The request with its end, and with a time before it."""
    stop = next(
        (one.end_char for one in doc.sents if one.start_char <= match.start() < one.end_char), end
    )
    stop = min(stop, end, match.start() + MAX_CHARACTERS)
    for mention in mentions:
        if mention.start < stop < mention.stop:
            stop = mention.stop
    if match["wake"]:
        stop = next((one.stop for one in mentions if match.end() <= one.start < stop), stop)
    comma = _second_clause(doc, match.end(), stop, mentions)
    stop = stop if comma is None else comma
    stop = match.start() + len(_JOINING.sub("", doc.text[match.start() : stop]).rstrip(_EDGES))
    start = next(
        (
            one.start
            for one in mentions
            if one.stop <= match.start() and _GAP.fullmatch(doc.text, one.stop, match.start())
        ),
        match.start(),
    )
    return _Request(start, match.start(), match.end(), max(stop, match.end()), bool(match["wake"]))


def _second_clause(doc: Doc, start: int, stop: int, mentions: Sequence[TimeMention]) -> int | None:
    """Where another clause with its own subject begins, after a comma that follows a time."""
    for token in doc:
        if start < token.idx < stop and token.text == "," and token.i + 1 < len(doc):
            timed = any(start <= one.start and one.stop <= token.idx for one in mentions)
            if timed and any(
                other.dep_ in ("nsubj", "nsubjpass") and other.head.i > other.i
                for other in doc[token.i + 1 :]
                if other.idx < stop
            ):
                return token.idx
    return None


def _text(
    doc: Doc, request: _Request, speaker: str, mentions: Sequence[TimeMention]
) -> tuple[str, str] | None:
    """The statement, and what it is about; None if that is not said."""

    def rendered(start: int, stop: int) -> str:
        tokens = [token for token in doc if start <= token.idx < stop]
        return to_third_person(tokens, speaker, mentions=mentions).strip(_EDGES)

    rest = [token for token in doc if request.rest <= token.idx < request.stop]
    timing, about = _split_times(rest, mentions)
    before = rendered(request.start, request.verb) if request.start < request.verb else ""
    wanted = "wants to be woken" if request.wake else "wants to be reminded"
    if not _has_content(about):
        if request.wake:
            return sentence(speaker, wanted, before, rendered(request.rest, request.stop)), "woken"
        earlier = _clause_before(doc, request)
        if earlier is None:
            return None
        start, stop = earlier
        when = rendered(request.rest, request.stop)
        said = rendered(start, stop)
        return sentence(speaker, wanted, before, when, f"that {said}"), said
    said = rendered(about[0].idx, request.stop)
    link = "" if request.wake or _LINKED.match(about[0].text) else _link(about)
    when = rendered(timing[0].idx, about[0].idx) if timing else ""
    return sentence(speaker, wanted, before, when, link, said), said


def _split_times(
    rest: Sequence[Token], mentions: Sequence[TimeMention]
) -> tuple[Sequence[Token], Sequence[Token]]:
    """The times with which the words begin, and the other words.

    A time that is the subject is none of these: "remind me Thursday is the last day".
    """
    for place, token in enumerate(rest):
        timed = any(one.start <= token.idx < one.stop for one in mentions)
        if not (timed or token.is_punct or token.pos_ == "INTJ"):
            begins = 0 if token.tag_ in _FINITE else place
            return rest[:begins], rest[begins:]
    return rest, ()


def _has_content(tokens: Sequence[Token]) -> bool:
    return any(token.pos_ in ("NOUN", "PROPN", "VERB", "NUM", "ADJ", "X") for token in tokens)


def _link(about: Sequence[Token]) -> str:
    """The word before a complement: "that" before a clause, "to" before a verb, else "of"."""
    if about[0].tag_ == "VB" or about[0].dep_ == "ROOT":
        return "to"
    clause = any(
        token.dep_ in ("nsubj", "nsubjpass") and token.head in about and token.i < token.head.i
        for token in about
    )
    return "that" if clause else "of"


def _clause_before(doc: Doc, request: _Request) -> tuple[int, int] | None:
    """The words before a request that does not say what it is about; None if there are none."""
    edges = [0, *(one.start_char for one in doc.sents), request.start]
    for start, stop in reversed(list(pairwise(sorted({e for e in edges if e <= request.start})))):
        words = _JOINING.sub("", doc.text[start:stop]).rstrip(_EDGES)
        if _has_content([token for token in doc if start <= token.idx < start + len(words)]):
            return start, start + len(words)
    return None
