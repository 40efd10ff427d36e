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
from typing import Final

from hotmem.temporal import Bound, Granularity, TimeMention, find_times
from hotmem.types import Category, EventTime, Interval, Kind, Statement, Understanding
from hotmem.types.parse import Doc, Span
from hotmem.understanding.facts.event_times import read_event_times
from hotmem.understanding.facts.former_times import current_times
from hotmem.understanding.facts.half_of_day import in_its_half
from hotmem.understanding.facts.relations import HAS_TO, IS_ON, IS_REMINDED, PLANS_TO
from hotmem.understanding.facts.third_person import (
    FIRST_PERSON_PRONOUNS,
    sentence,
    to_third_person,
)
from hotmem.understanding.facts.time_direction import is_future, resolve_times

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
