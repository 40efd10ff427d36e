"""Words before a time that make it one side of a longer one: "since", "no later than"."""

import re
from enum import StrEnum
from typing import Final


class Bound(StrEnum):
    """How an utterance uses a time: as it is, or as one side of a longer one."""

    AT = "at"
    SINCE = "since"
    AFTER = "after"
    UNTIL = "until"
    BEFORE = "before"


_WORDS: Final = (
    (
        Bound.SINCE,
        r"since|starting(?:\s+on)?|beginning(?:\s+on)?|as\s+early\s+as|(?:at|on)\s+or\s+after|not\s+before|>=|no\s+earlier\s+than",
    ),
    (Bound.AFTER, r"after|later\s+than|>"),
    (
        Bound.UNTIL,
        r"until|till|til|by|no\s+later\s+than|not\s+later\s+than|as\s+late\s+as|(?:at|on)\s+or\s+before|<=|up\s+to",
    ),
    (Bound.BEFORE, r"before|prior\s+to|earlier\s+than|sooner\s+than|<"),
)
_BOUND: Final = re.compile(
    rf"(?:{'|'.join(f'(?P<{bound}>(?<![a-z<]){words})' for bound, words in _WORDS)})\s*(?:(?:around|about|the|on|in|at)\s+)*$"
)
_LATER: Final = re.compile(
    r"\s+(?:(?:and|or)\s+(?:(?P<since>later|after|onwards?)|(?P<until>earlier|before))(?!\s*\w)|(?P<on>onwards?|on(?=\s*(?:[.,!?]|$))))"
)


def bound_before(left: str) -> tuple[Bound, int] | None:
    """The bound that the words left of a time end with, and where it begins."""
    match = _BOUND.search(left)
    return (Bound(str(match.lastgroup)), match.start()) if match else None


def bound_after(text: str, place: int) -> tuple[Bound, int] | None:
    """The bound that follows a time ("and later"), and where its words end."""
    match = _LATER.match(text, place)
    return (
        (Bound.SINCE if match["since"] or match["on"] else Bound.UNTIL, match.end())
        if match
        else None
    )
