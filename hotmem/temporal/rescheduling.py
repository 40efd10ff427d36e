"""Verbs by which an event gets another time.

After them, "from Friday to Monday" names two days instead of a range.
"""

import re
from typing import Final

_REGULAR: Final = {
    "shift": "shift",
    "push": "push",
    "postpone": "postpon",
    "reschedule": "reschedul",
    "delay": "delay",
    "change": "chang",
    "switch": "switch",
    "swap": "swapp",
    "slip": "slipp",
}
"""Verbs, each with what comes before "-ed" and "-ing"."""

RESCHEDULING_VERBS: Final = frozenset({"move", "bring", "put", *_REGULAR})

RESCHEDULED: Final = re.compile(
    rf"\b(?:mov(?:ed?|es|ing)|(?:{'|'.join(_REGULAR.values())})(?:ed|ing)"
    rf"|(?:{'|'.join(_REGULAR)})(?=\s+(?:the|my|our|it|that|this)\b)"
    r"|br(?:ing|ought)|put)\b(?:(?!\band\b)[^.?!;])*$",
    re.IGNORECASE,
)
"""The end of a text with such a verb. "My shift" is none."""
