"""Plans and reminders: statements of the kind "reminder", with a time of their own.

A statement is one if its relation says so ("plans to", "is on"), or if it names a time that is
ahead ("has an interview on Thursday"), except for lasting states. Its time is that of its words:
also the end of a term ("before Friday") and a time of day ("at six"), which do not date events.
`plan_statement` makes one of any words that are known to be a plan or a reminder.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from itertools import islice, pairwise
from typing import Final

from hotmem.temporal import Bound, Granularity, TimeMention, find_times
from hotmem.types import Category, EventTime, Interval, Kind, Statement, Understanding
from hotmem.types.understanding import Doc, Span, Token
from hotmem.understanding.facts.events import read_event_times
from hotmem.understanding.facts.relations import HAS_TO, IS_ON, IS_REMINDED, PLANS_TO
from hotmem.understanding.facts.third_person import (
    FIRST_PERSON_PRONOUNS,
    sentence,
    to_third_person,
)
from hotmem.understanding.facts.time_direction import (
    current_times,
    in_its_half,
    is_future,
    resolve_times,
)

PLAN_RELATIONS: Final = frozenset({PLANS_TO.name, IS_ON.name, IS_REMINDED.name})
"""Relations whose statements are always plans or reminders."""

_DATED_BY_TERMS: Final = PLAN_RELATIONS | {HAS_TO.name}
"""Relations whose statements are dated by the end of a term and by times of day as well."""

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
    default: Interval | None = None,
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
        default: The time if neither the words nor their sentence name one: that of the question
            that they answer.
    """
    mentions = upcoming_times(doc.text, said_at)
    own = [one for one in mentions if one.start < stop and one.stop > start]
    if not own:
        own = [
            replace(one, start=start + one.start, stop=start + one.stop)
            for one in upcoming_times(doc.text[start:stop], said_at)
        ]
        mentions = (*mentions, *own)
    if not own:
        around = doc.char_span(start, stop, alignment_mode="expand")
        own = _in_sentences(around, mentions) if around is not None else []
    first, last = (
        min([start, *(one.start for one in own)]),
        max([stop, *(one.stop for one in own)]),
    )
    words = [token for token in doc if start <= token.idx < stop]
    said = to_third_person(words, speaker, mentions=mentions)
    lacks_subject = bool(words) and words[0].tag_ in ("VB", "TO") and not _names_speaker(words)
    text = sentence(
        *((speaker, "wants to be reminded") if lacks_subject else ()),
        *(("to",) if lacks_subject and words[0].tag_ == "VB" else ()),
        said,
    )
    times = tuple(EventTime(one.start, one.stop, plan_time(one, said_at)) for one in own)
    if not times and default is not None:
        times = (EventTime(first, last, default),)
    statement = replace(
        PLANS_TO.statement(speaker, said, text, first, last),
        kind=Kind.REMINDER,
        category=Category.REMINDERS,
        hedged=hedged,
        entities=tuple(name for name in entities if name in text),
    )
    return Plan(statement, times)


def _in_sentences(words: Span, mentions: Iterable[TimeMention]) -> list[TimeMention]:
    """The times in the sentences of some words."""
    first, last = words[0].sent.start_char, words[-1].sent.end_char
    return [one for one in mentions if first <= one.start < last]


def _names_speaker(words: Iterable[object]) -> bool:
    return any(getattr(token, "lower_", "") in FIRST_PERSON_PRONOUNS for token in words)


def mark_plans(
    doc: Doc, understanding: Understanding, defaults: Sequence[Statement], said_at: datetime
) -> Understanding:
    """Give plans and reminders their kind and their times, and take the kind from other statements.

    Args:
        doc: The parsed turn.
        understanding: What was read of it, classified.
        defaults: Its statements before they were classified, in the same order.
        said_at: When it was said, in the speaker's time zone.
    """
    if not understanding.statements:
        return understanding
    ahead = [one for one in resolve_times(doc, said_at) if _is_ahead(doc, one, said_at)]
    upcoming = upcoming_times(doc.text, said_at)
    times = {one.start: one for one in understanding.event_times}
    marked = []
    for statement, default in zip(understanding.statements, defaults, strict=True):
        named = list(_within(statement, upcoming if _has_terms(statement) else ahead))
        if _is_plan(statement, default, dated=bool(named)):
            statement = replace(statement, kind=Kind.REMINDER, category=Category.REMINDERS)
            times |= _dated(named, said_at)
        elif statement.kind is Kind.REMINDER:
            statement = _undone(statement, default)
        marked.append(statement)
    return replace(
        understanding,
        statements=tuple(_without_repeated(marked)),
        event_times=tuple(times[start] for start in sorted(times)),
    )


def _is_ahead(doc: Doc, mention: TimeMention, said_at: datetime) -> bool:
    """Whether a time is ahead; of one on the same day, the tense decides: "tonight"."""
    if mention.bound is Bound.SINCE and mention.interval.start <= said_at:
        return False
    start, _ = mention.local
    if mention.interval.end <= said_at or start.date() > said_at.astimezone(mention.zone).date():
        return mention.interval.end > said_at
    return is_future(doc, mention)


def _has_terms(statement: Statement) -> bool:
    return statement.relation in _DATED_BY_TERMS


def _within(statement: Statement, mentions: Iterable[TimeMention]) -> Iterator[TimeMention]:
    return (one for one in mentions if one.start < statement.stop and one.stop > statement.start)


def _is_plan(statement: Statement, default: Statement, *, dated: bool) -> bool:
    if statement.kind is Kind.RULE:
        return False
    if statement.relation in PLAN_RELATIONS:
        return default.kind is Kind.REMINDER
    if statement.relation == HAS_TO.name:
        return dated or statement.kind is Kind.REMINDER
    return dated and not statement.single


def _undone(statement: Statement, default: Statement) -> Statement:
    """A statement with the kind of its relation, and the category if that was "reminders"."""
    kind = Kind.FACT if default.kind is Kind.REMINDER else default.kind
    filed = statement.category is Category.REMINDERS
    return replace(statement, kind=kind, category=default.category if filed else statement.category)


def _dated(mentions: Iterable[TimeMention], said_at: datetime) -> Mapping[int, EventTime]:
    """The event times of a plan, by their first character."""
    found = {one.start: one for one in read_event_times(said_at, mentions)}
    for one in mentions:
        if one.start not in found or one.bound is not Bound.AT:
            found[one.start] = EventTime(one.start, one.stop, plan_time(one, said_at))
    return found


def _without_repeated(statements: Sequence[Statement]) -> Iterator[Statement]:
    """The statements without those that state what one is to be reminded of once more."""
    asked = [one for one in statements if one.relation == IS_REMINDED.name]
    for statement in statements:
        repeated = statement.kind is Kind.REMINDER and any(
            one.start <= statement.start and statement.stop <= one.stop and statement is not one
            for one in asked
        )
        if not repeated:
            yield statement


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
