"""Words after which "from Friday to Monday" names two days instead of a range."""

import re
from typing import Final

RESCHEDULED: Final = re.compile(
    r"\b(?:mov(?:ed?|es|ing)|(?:shift|push|postpon|reschedul|delay|chang|switch|swapp?)(?:ed|ing)"
    r"|(?:shift|push|postpone|reschedule|delay|change|switch|swap)(?=\s+(?:the|my|our|it|that|this)\b)"
    r"|br(?:ing|ought)|put)\b(?:(?!\band\b)[^.?!;])*$",
    re.IGNORECASE,
)
"""The end of a text with a verb by which an event gets another time. "My shift" is no such verb."""
