"""The form of an answer: what a question wants to hear, and whether a statement offers it.

"Which cities have I been to?" wants names, "when" a time, "how many" a number. A statement without the form that is wanted is less often
evidence; this brings 2 points on LoCoMo and REALTALK. Names are told by their capitals, so in text without capitals nothing offers one.
"""

import re
from enum import StrEnum
from functools import lru_cache
from typing import Final

from hotmem.terms import stems


class Form(StrEnum):
    """What an answer is made of."""

    NAME = "name"
    TIME = "time"
    NUMBER = "number"


_WANTS: Final = {
    Form.NAME: re.compile(
        r"\b(?:where|whom?|whose|names?|named|called|cit(?:y|ies)|countr(?:y|ies)|places?|locations?|states?|areas?|travel(?:l?ed)?|visit(?:ed)?"
        r"|books?|movies?|films?|songs?|shows?|series|games?|bands?|artists?|albums?|novels?|plays?|music\w*"
        r"|compan(?:y|ies)|brands?|teams?|organi[sz]ations?|schools?|universit(?:y|ies)|clubs?|stores?|shops?|restaurants?)\b",
        re.IGNORECASE,
    ),
    Form.TIME: re.compile(r"\b(?:when|dates?|days?|(?:what|which) (?:month|year|time)|how long ago)\b", re.IGNORECASE),
    Form.NUMBER: re.compile(r"\b(?:how (?:many|much|long|old|often|far)|times|(?:what|which) (?:time|year|age|number)|when)\b", re.IGNORECASE),
}

_TIMES: Final = stems(
    "yesterday today tonight tomorrow last next ago since recently morning evening night weekend day week month year"
    " monday tuesday wednesday thursday friday saturday sunday"
    " january february march april may june july august september october november december"
)
_NUMBERS: Final = stems("two three four five six seven eight nine ten dozen hundred thousand")
"""Without "one", whose stem is that of "on"."""
_YEAR_OR_ORDINAL: Final = re.compile(r"\d{4}|\d+(?:st|nd|rd|th)")
_NAME: Final = re.compile(r"[^.!?…\s] (?!I\b)[A-Z]\w|[\"“‘][^\"”]{2,60}[\"”]")


def wanted(question: str) -> frozenset[Form]:
    """The forms that would answer a question; none where it asks for no particular one."""
    return frozenset(form for form, pattern in _WANTS.items() if pattern.search(question))


@lru_cache(maxsize=8192)
def offered(text: str) -> frozenset[Form]:
    """The forms that a statement holds."""
    held = stems(text)
    digits = [stem for stem in held if stem[0].isdigit()]
    forms = {
        Form.NAME: bool(_NAME.search(text)),
        Form.TIME: not held.isdisjoint(_TIMES) or any(map(_YEAR_OR_ORDINAL.fullmatch, digits)),
        Form.NUMBER: bool(digits) or not held.isdisjoint(_NUMBERS),
    }
    return frozenset(form for form, there in forms.items() if there)
