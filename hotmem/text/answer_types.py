"""Expected answer types of questions, and the answer types that statements contain.

"Which cities have I been to?" expects names, "when" a time, "how many" a number; a statement
without the expected type is less likely to be evidence. Names are detected by their capitals, so
text without capitals contains none.
"""

import re
from functools import reduce
from operator import or_
from typing import Final

from hotmem.text.stemming import stems
from hotmem.types import AnswerType

_EXPECTED: Final = {
    AnswerType.NAME: re.compile(
        r"\b(?:where|whom?|whose|names?|named|called|cit(?:y|ies)|countr(?:y|ies)|places?|locations?"
        r"|states?|areas?|travel(?:l?ed)?|visit(?:ed)?"
        r"|books?|movies?|films?|songs?|shows?|series|games?|bands?|artists?|albums?|novels?|plays?"
        r"|music\w*"
        r"|compan(?:y|ies)|brands?|teams?|organi[sz]ations?|schools?|universit(?:y|ies)|clubs?"
        r"|stores?|shops?|restaurants?)\b",
        re.IGNORECASE,
    ),
    AnswerType.TIME: re.compile(
        r"\b(?:when|dates?|days?|(?:what|which) (?:month|year|time)|how long ago)\b", re.IGNORECASE
    ),
    AnswerType.NUMBER: re.compile(
        r"\b(?:how (?:many|much|long|old|often|far)|times|(?:what|which) (?:time|year|age|number)"
        r"|when)\b",
        re.IGNORECASE,
    ),
}

_TIMES: Final = stems(
    "yesterday today tonight tomorrow last next ago since recently morning evening night weekend"
    " day week month year monday tuesday wednesday thursday friday saturday sunday"
    " january february march april may june july august september october november december"
)
_NUMBERS: Final = stems("two three four five six seven eight nine ten dozen hundred thousand")
"""Not "one", which has the same stem as "on"."""
_FIRST_PERSON: Final = stems("i me my mine we our")
"""Not "us", which has the same stem as "use"."""
_YEAR_OR_ORDINAL: Final = re.compile(r"\d{4}|\d+(?:st|nd|rd|th)")
_NAME: Final = re.compile(r"[^.!?…\s] (?!I\b)[A-Z]\w|[\"“‘][^\"”]{2,60}[\"”]")


def expected_answer_types(question: str) -> AnswerType:
    """The types that would answer a question; NONE if it expects no particular one."""
    expected = (kind for kind, pattern in _EXPECTED.items() if pattern.search(question))
    return reduce(or_, expected, AnswerType.NONE)


def answer_types(text: str) -> AnswerType:
    """The types that a statement contains."""
    terms = stems(text)
    digits = [term for term in terms if term[0].isdigit()]
    contained = {
        AnswerType.NAME: bool(_NAME.search(text)),
        AnswerType.TIME: not terms.isdisjoint(_TIMES)
        or any(map(_YEAR_OR_ORDINAL.fullmatch, digits)),
        AnswerType.NUMBER: bool(digits) or not terms.isdisjoint(_NUMBERS),
        AnswerType.FIRST_PERSON: not terms.isdisjoint(_FIRST_PERSON),
        AnswerType.QUESTION: text.rstrip().endswith("?"),
    }
    return reduce(or_, (kind for kind, found in contained.items() if found), AnswerType.NONE)
