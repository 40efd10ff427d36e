"""Times that an event was moved from: "the meeting on 3 March was postponed to 10 March"."""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

from hotmem.temporal import TimeMention
from hotmem.temporal.rescheduling import RESCHEDULED

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
