"""Words around a time that make it one side of an interval: "since", "no later than"."""

import re
from enum import StrEnum
from typing import Final


class Bound(StrEnum):
    """Role of a time in an utterance: the time itself, or one side of an interval."""

    AT = "at"
    SINCE = "since"
    AFTER = "after"
    UNTIL = "until"
    BEFORE = "before"


_WORDS: Final = (
    (
        Bound.SINCE,
        r"since|starting(?:\s+on)?|beginning(?:\s+on)?|(?:at|on)\s+or\s+after|not\s+before|>="
        r"|no\s+earlier\s+than",
    ),
    (Bound.AFTER, r"after|later\s+than"),
    (
        Bound.UNTIL,
        r"until|till|til|by|not?\s+later\s+than|(?:at|on)\s+or\s+before|<=|up\s+to",
    ),
    (Bound.BEFORE, r"before|prior\s+to|earlier\s+than|sooner\s+than"),
)
_BEFORE: Final = re.compile(
    rf"(?:{'|'.join(f'(?P<{bound}>(?<![a-z<]){words})' for bound, words in _WORDS)})"
    r"\s*(?:(?:around|about|the|on|in|at)\s+)*$"
)
_AFTER: Final = re.compile(
    r"\s+(?:(?:and|or)\s+(?:(?P<since>later|after|onwards?)|(?P<until>earlier|before))(?!\s*\w)"
    r"|(?P<on>onwards?|on(?=\s*(?:[.,!?]|$))))"
)


def bound_before(left: str) -> tuple[Bound, int] | None:
    """The bound at the end of the text left of a time, and where it starts."""
    match = _BEFORE.search(left)
    return (Bound(str(match.lastgroup)), match.start()) if match else None


def bound_after(text: str, place: int) -> tuple[Bound, int] | None:
    """The bound that follows a time ("and later"), and where it ends."""
    match = _AFTER.match(text, place)
    if match is None:
        return None
    return Bound.UNTIL if match["until"] else Bound.SINCE, match.end()
