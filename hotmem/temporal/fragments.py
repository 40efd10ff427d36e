"""Fragments of a time expression, the rules that find them, and the patterns that rules share."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

from hotmem.temporal.units import MONTHS, UNITS, WEEKDAYS, Bound, Reference, Span, add_units


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day without a day, in minutes from midnight.

    Attributes:
        start: First minute.
        end: First minute after it; above 1440 it is in the next day, equal to `start` it is a
            moment.
        is_part: Whether it is a part of the day ("in the morning") rather than an hour.
        twelve_hour: Whether it is on the 12-hour clock without am or pm.
    """

    start: int
    end: int
    is_part: bool = False
    twelve_hour: bool = False


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part of a time expression.

    Attributes:
        start: Index of its first character in the normalized text.
        stop: Index after its last character.
        span: Its meaning, if it has a day.
        clock: Its meaning, if it is a time of day.
        weekday: 0 to 6 for a weekday without "last" or "next".
        dated: Whether it is a date of the calendar ("the 3rd", "8 May"), not a relative day.
        weak: Whether it is a time only next to another fragment: a bare number, "sat".
        bound: The bound inside its words: "Friday after two".
    """

    start: int
    stop: int
    span: Span | None = None
    clock: Clock | None = None
    weekday: int | None = None
    dated: bool = False
    weak: bool = False
    bound: Bound = Bound.AT


Interpretation: TypeAlias = Callable[[re.Match[str], Reference], Span | Fragment | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and its interpretation.

    Attributes:
        cues: Substrings of which one must occur for the pattern to be tried.
        pattern: The words.
        interpret: Their meaning; None or a ValueError if they have none.
        dated: Whether it matches dates of the calendar.
    """

    cues: tuple[str, ...]
    pattern: re.Pattern[str]
    interpret: Interpretation
    dated: bool = False

    def find(self, text: str, reference: Reference) -> Iterator[Fragment]:
        """Find every fragment that the rule matches in normalized text.

        A date that does not exist is a fragment without a meaning, so that no part of it matches
        another rule.
        """
        if not any(cue in text for cue in self.cues):
            return
        for match in self.pattern.finditer(text):
            try:
                meaning = self.interpret(match, reference)
            except (ValueError, OverflowError):
                if self.dated:
                    yield Fragment(match.start(), match.end())
                continue
            if isinstance(meaning, Span):
                yield Fragment(match.start(), match.end(), meaning, dated=self.dated)
            elif meaning is not None:
                yield meaning


def words_rule(cues: tuple[str, ...], body: str, interpret: Interpretation) -> Rule:
    """A rule whose pattern matches between word boundaries."""
    return Rule(cues, re.compile(rf"(?<!\w)(?:{body})(?!\w)"), interpret)


def preceded_by(words: str) -> str:
    """A look-behind for one of several words and a space: "before|week of"."""
    return "(?:" + "|".join(rf"(?<=\b{word}\s)" for word in words.split("|")) + ")"


DIGITS: Final = tuple("0123456789")
"""Cues of rules that need a number."""
MONTH_CUES: Final = tuple(month[:3] for month in MONTHS)
"""Cues of rules that need a month."""
MONTH: Final = (
    rf"(?:{'|'.join(MONTHS)}"
    r"|(?:jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)(?![a-z]))"
)
ORDINAL: Final = r"(?:st|nd|rd|th)"
YEAR: Final = r"(?:1[5-9]|20)\d\d"
WEEKDAY: Final = rf"(?:{'|'.join(WEEKDAYS)}|tues?|thurs?|thur?|fri|mon|wed|sat|sun)"
LAST_WORDS: Final = ("last", "past", "previous", "preceding")
THIS_WORDS: Final = ("this", "current")
DIRECTION: Final = (
    r"(?:this\s+past|this\s+coming|last|past|previous|this|current|next|coming|upcoming|following)"
)
UNIT: Final = rf"(?:(?:{'|'.join(UNITS)})s?|secs?|mins?|hrs?|h|yrs?)"
COUNT: Final = r"(?:\d+(?:\.\d+)?|an?|half(?: an?)?|(?:a )?couple(?: of)?|(?:a )?few|several)"
_COUNTED: Final = rf"{COUNT}(?: and (?:an? )?half)?\s*(?:calendar )?{UNIT}"
DURATION: Final = rf"{_COUNTED}(?:(?:,| and)?\s*{_COUNTED}){{0,5}}(?: and a half)?"
"""A duration: "3 days", "2 years 21 days", "an hour and a half".

The number of its units is bounded because matching takes quadratic time in it.
"""

_DURATION_PART: Final = re.compile(
    rf"(?P<count>{COUNT})(?P<half> and (?:an? )?half)?\s*(?:calendar )?(?P<unit>{UNIT})(?!\w)"
    r"(?P<more> and a half)?"
)
_FIRST_YEAR_OF_LAST_CENTURY: Final = 40
"""Two-digit years from here on are in the 20th century, as in Microsoft's Recognizers."""
_UNIT_ABBREVIATIONS: Final = {
    "sec": "second",
    "min": "minute",
    "hr": "hour",
    "h": "hour",
    "yr": "year",
}
_SMALLER_UNIT: Final = {"week": "day", "month": "day", "year": "month", "decade": "year"}
_COUNT_WORDS: Final = {
    "a": 1.0,
    "an": 1.0,
    "half": 0.5,
    "half a": 0.5,
    "half an": 0.5,
    "several": 3.0,
}


def parse_unit(word: str) -> str:
    """The unit in the singular: "hrs" → "hour"."""
    single = word.removesuffix("s")
    return _UNIT_ABBREVIATIONS.get(single, single)


def parse_year(digits: str) -> int:
    """The year of four digits, or of two with or without an apostrophe ("'98")."""
    year = int(digits.lstrip("'"))
    if len(digits.lstrip("'")) > 2:
        return year
    return year + (1900 if year >= _FIRST_YEAR_OF_LAST_CENTURY else 2000)


def parse_month(word: str) -> int:
    """The number of a month, 1 to 12."""
    return next(number for number, month in enumerate(MONTHS, 1) if month.startswith(word[:3]))


def parse_weekday(word: str) -> int:
    """The number of a weekday, 0 for Monday to 6."""
    return next(number for number, weekday in enumerate(WEEKDAYS) if weekday.startswith(word[:3]))


def parse_direction(words: str) -> int:
    """-1 for "last", 0 for "this", 1 for "next"."""
    word = words.split()[-1]
    return -1 if word in LAST_WORDS else 0 if word in THIS_WORDS else 1


@dataclass(frozen=True, slots=True)
class Duration:
    """A duration as it was spoken: pairs of count and unit."""

    parts: tuple[tuple[float, str], ...]

    @property
    def finest(self) -> str:
        """The smallest unit in it; the next smaller one if a unit has a fractional count."""
        return min(
            (_SMALLER_UNIT.get(unit, unit) if count % 1 else unit for count, unit in self.parts),
            key=UNITS.index,
        )

    def add_to(self, moment: datetime, sign: int = 1) -> datetime:
        """The moment after a start, or before it if `sign` is -1."""
        for count, unit in self.parts:
            moment = add_units(moment, unit, sign * count)
        return moment


def parse_duration(text: str) -> Duration:
    """Parse text that `DURATION` matched."""
    return Duration(
        tuple(
            (
                parse_count(part["count"]) + (0.5 if part["half"] or part["more"] else 0.0),
                parse_unit(part["unit"]),
            )
            for part in _DURATION_PART.finditer(text)
        )
    )


def parse_count(words: str) -> float:
    """The value of text that `COUNT` matched: "a couple of" is 2, "a few" 3."""
    if words in _COUNT_WORDS:
        return _COUNT_WORDS[words]
    return 2.0 if "couple" in words else 3.0 if "few" in words else float(words)
