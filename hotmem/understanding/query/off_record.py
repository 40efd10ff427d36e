"""Requests not to store something: this turn, earlier turns, or all turns until further notice.

A request is detected in any wording and anywhere in a turn. If it is uncertain whether a turn is
only a request, the request applies to that turn alone.
"""

import re
from datetime import datetime, timedelta
from typing import Final

from hotmem.temporal import find_times
from hotmem.text.utterance import END, normalize
from hotmem.understanding.query import off_record_patterns as patterns
from hotmem.understanding.query.commands import Command, CommandKind

EDGE_WORDS: Final = 60
"""Number of words at each end of a long utterance that are searched for a request."""

LONGEST: Final = timedelta(hours=12)
"""The longest time that a request is for."""

_UNTIL: Final = re.compile(r"\boff (?:the )?record (?:until|till|while|as long as)\b")
_ELSEWHERE: Final = re.compile(
    r"\b(?:recording|recorder|notes|record) (?:of|in|on|from) (?!(?:this|that|it|what|us|me)\b"
    r"|(?:the |our |this )?(?:conversation|chat|call|talk)\b)"
    r"|\bfrom (?:now|here|today) on(?:wards)? (?:\w+ ){0,2}?(?:speak|talk|answer|reply|respond|call"
    r"|address|use|be|give|greet)\b"
)
"""A recording or notes that are not ours, or a wish about how the bot speaks."""

_FORWARD: Final = re.compile(r"\b(?:NEXT|this|these|between)\b")
_BACKWARD: Final = re.compile(r"\b(?:that|thats|it|its|those|them|hear|heard)\b")


_SPAN: Final = re.compile(
    r"\b(?:for|next) (?:the )?(?:next )?((?!a (?:minute|second))(?:[\w-]+ ){1,4}?"
    r"(?:minute|hour)s?)\b"
)
"""A time that a request is for; "a minute" is none."""


def is_elsewhere(text: str) -> bool:
    """Whether an utterance is about a recording or notes that are not the memory's."""
    return _ELSEWHERE.search(normalize(text)) is not None


def end_of_request(text: str, at: datetime) -> datetime | None:
    """When a request that names a time ends, UTC: "for the next ten minutes"; or None.

    Args:
        text: The request.
        at: When it was made, in the user's time zone.
    """
    found = _SPAN.search(normalize(text))
    times = [] if found is None else find_times(f"in {found[1]}", at)
    end = times[0].exact_moment if times else None
    return end if end is not None and end - at <= LONGEST else None


def find_record_request(text: str) -> Command | None:
    """Find a request about what is stored in an utterance."""
    words = _without_middle(normalize(text))
    if _ELSEWHERE.search(words):
        return None
    if (resumed := _find_resume_request(words)) is not None:
        return resumed
    words = patterns.PARTITIVE.sub("", words)
    several = patterns.LAST_TURNS.search(words)
    for pattern, placeholder in patterns.REFERENCES:
        words = pattern.sub(placeholder, words)
    words = patterns.REPORTED.sub("reported", words)
    if patterns.ERASURE.search(words):
        return Command(CommandKind.SKIP_LAST)
    lasting, asked, withdrawn = (
        pattern.search(words)
        for pattern in (patterns.FROM_NOW_ON, patterns.REQUEST, patterns.WITHDRAWAL)
    )
    if not (lasting or asked or withdrawn):
        return None
    if lasting:
        return Command(CommandKind.OFF_RECORD)
    if asked and not _has_other_content(words[: asked.start()]):
        last_word = asked.end() - len(asked[0].split()[-1])
        if patterns.THAT_AND_MORE.match(words, last_word):
            return Command(CommandKind.SKIP_LAST)
    if _has_other_content(words):
        return Command(CommandKind.OFF_RECORD if _UNTIL.search(words) else CommandKind.SKIP_TURN)
    if withdrawn or several or _refers_back(words):
        return Command(CommandKind.SKIP_LAST, turns=patterns.NUMBERS[several[1]] if several else 1)
    return Command(CommandKind.OFF_RECORD)


def _has_other_content(words: str) -> bool:
    """Whether an utterance has content besides requests and courtesies."""
    for pattern in (
        patterns.REQUEST,
        patterns.WITHDRAWAL,
        patterns.ANNOUNCEMENT,
        patterns.REGRET,
        patterns.COURTESY,
    ):
        words = pattern.sub(" ", words)
    return bool(words.replace(END, " ").strip())


def _without_middle(words: str) -> str:
    """The first and last `EDGE_WORDS` words of a long utterance."""
    parts = words.split()
    if len(parts) <= 2 * EDGE_WORDS:
        return words
    return " ".join((*parts[:EDGE_WORDS], END, *parts[-EDGE_WORDS:]))


def _refers_back(words: str) -> bool:
    """Whether an utterance that is only a request applies to the turns before it."""
    if "BEFORE" in words:
        return True
    if patterns.ANNOUNCEMENT.search(words) or _FORWARD.search(words):
        return False
    return _BACKWARD.search(words) is not None


def _find_resume_request(words: str) -> Command | None:
    """Find a clear request to store turns again; others are for the model to find."""
    match = patterns.BACK_ON_RECORD.search(words)
    if (
        match is None
        or patterns.CONDITION.search(words[: match.end()])
        or patterns.DENIED_OR_REPORTED.search(words[: match.start()])
    ):
        return None
    said = words[: match.start()]
    clause, before, after = (
        patterns.COURTESY.sub(" ", part).replace(END, " ").strip()
        for part in (said.rpartition(END)[2], said, words[match.end() :])
    )
    return None if clause else Command(CommandKind.ON_RECORD, continues=bool(after) and not before)
