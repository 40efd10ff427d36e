"""Event times: when the events of a turn happened or will happen."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from hotmem.temporal import Bound, TimeMention
from hotmem.types import EventTime, Interval
from hotmem.types.parse import Doc
from hotmem.understanding.facts.time_direction import resolve_times

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
