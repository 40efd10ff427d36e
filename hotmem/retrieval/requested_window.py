"""Detection of a requested time window: "what did I do last week?" asks for one.

A question about a specific subject ("when did Clara visit last year?") requests no window: there
the window is one of the features of the relevance model.
"""

import re
from datetime import timedelta
from typing import Final

from hotmem.text.numerals import parse_numeral
from hotmem.text.word_sets import word_sets, wordlist
from hotmem.types import Analysis, Intent, Interval, Query

_WORDS: Final = word_sets(__file__)

MAX_SEARCHED: Final = timedelta(days=62)
"""Longest window that is searched by time; a longer one selects too little."""

MAX_REQUESTED: Final = timedelta(days=32)
"""Longest window that counts as requested."""

_TIME_WORDS: Final = _WORDS["time_words"]
_ASKING_WORDS: Final = _WORDS["asking_words"]
_HESITATIONS: Final = wordlist("um umm uh uhh er erm hmm mm s re mean sorry")
"""Hesitations, words of corrections, and what is left of "whats"."""

_NUMBER: Final = re.compile(r"\d+(?:st|nd|rd|th)?|['’]\w{1,2}|\d{1,4}[-/.]\d{1,2}(?:[-/.]\d{1,4})?")


def searchable_window(analysis: Analysis) -> Interval | None:
    """The window to search by time; None without one, or if it is longer than `MAX_SEARCHED`."""
    window = analysis.time
    return window if window is not None and window.end - window.start <= MAX_SEARCHED else None


def requested_window(query: Query) -> Interval | None:
    """The window that a question requests, of at most `MAX_REQUESTED`; None if it requests none.

    A window is requested if the question has no content word apart from time words and words of
    asking.
    """
    analysis = query.analysis
    window = analysis.time
    if (
        window is None
        or window.end - window.start > MAX_REQUESTED
        or not (analysis.question or analysis.intent is Intent.SUMMARY)
    ):
        return None
    return None if any(map(_is_content, analysis.terms)) else window


def _is_content(word: str) -> bool:
    return not (
        word in _TIME_WORDS
        or word in _ASKING_WORDS
        or word in _HESITATIONS
        or _NUMBER.fullmatch(word)
        or parse_numeral([word], 0)
    )
