"""What a text is made of.

The forms of answer that a question wants to hear, and those that a statement offers.

"Which cities have I been to?" wants names, "when" a time, "how many" a number. A statement without
the form that is wanted is less often evidence; this brings 2 points on LoCoMo and REALTALK. Names
are told by their capitals, so in text without capitals nothing offers one. The forms of a passage
are worked out once and kept beside it.
"""

import re
from functools import reduce
from operator import or_
from typing import Final

from hotmem.text.stemming import stems
from hotmem.types import AnswerType

_WANTS: Final = {
    AnswerType.NAME: re.compile(
        r"\b(?:where|whom?|whose|names?|named|called|cit(?:y|ies)|countr(?:y|ies)|places?|locations?|states?|areas?|travel(?:l?ed)?|visit(?:ed)?"
        r"|books?|movies?|films?|songs?|shows?|series|games?|bands?|artists?|albums?|novels?|plays?|music\w*"
        r"|compan(?:y|ies)|brands?|teams?|organi[sz]ations?|schools?|universit(?:y|ies)|clubs?|stores?|shops?|restaurants?)\b",
        re.IGNORECASE,
    ),
    AnswerType.TIME: re.compile(
        r"\b(?:when|dates?|days?|(?:what|which) (?:month|year|time)|how long ago)\b", re.IGNORECASE
    ),
    AnswerType.NUMBER: re.compile(
        r"\b(?:how (?:many|much|long|old|often|far)|times|(?:what|which) (?:time|year|age|number)|when)\b",
        re.IGNORECASE,
    ),
}

_TIMES: Final = stems(
    "yesterday today tonight tomorrow last next ago since recently morning evening night weekend day week month year"
    " monday tuesday wednesday thursday friday saturday sunday"
    " january february march april may june july august september october november december"
)
_NUMBERS: Final = stems("two three four five six seven eight nine ten dozen hundred thousand")
"""Without "one", whose stem is that of "on"."""
_FIRST_PERSON: Final = stems("i me my mine we our")
"""Without "us", whose stem is that of "use"."""
_YEAR_OR_ORDINAL: Final = re.compile(r"\d{4}|\d+(?:st|nd|rd|th)")
_NAME: Final = re.compile(r"[^.!?…\s] (?!I\b)[A-Z]\w|[\"“‘][^\"”]{2,60}[\"”]")


def expected_answer_types(question: str) -> AnswerType:
    """The forms that would answer a question; none where it asks for no particular one."""
    return reduce(
        or_, (form for form, pattern in _WANTS.items() if pattern.search(question)), AnswerType.NONE
    )


def answer_types(text: str) -> AnswerType:
    """The forms that a statement has."""
    held = stems(text)
    digits = [stem for stem in held if stem[0].isdigit()]
    there = {
        AnswerType.NAME: bool(_NAME.search(text)),
        AnswerType.TIME: not held.isdisjoint(_TIMES)
        or any(map(_YEAR_OR_ORDINAL.fullmatch, digits)),
        AnswerType.NUMBER: bool(digits) or not held.isdisjoint(_NUMBERS),
        AnswerType.FIRST_PERSON: not held.isdisjoint(_FIRST_PERSON),
        AnswerType.QUESTION: text.rstrip().endswith("?"),
    }
    return reduce(or_, (form for form, has in there.items() if has), AnswerType.NONE)
