"""The parts that a time is put together from, and the words they share."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

from hotmem.temporal.bounds import Bound
from hotmem.temporal.units import MONTHS, UNITS, WEEKDAYS, Reference, Span, counted


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day without a day, in minutes from midnight.

    Attributes:
        start: Its first minute.
        end: The first minute after it; beyond 1440 it runs into the next day, equal to `start` it
            is a moment.
        named: A part of the day ("in the morning") rather than an hour.
        halved: Told on twelve hours without saying which half.
    """

    start: int
    end: int
    named: bool = False
    halved: bool = False


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part of a time, with its place in the respelt words.

    Attributes:
        start: Its first character.
        stop: One past the last.
        span: What it means, for anything that has a day.
        clock: What it means, for a time of day.
        weekday: 0 to 6 for a weekday without "last" or "next".
        dated: A day of the calendar ("the 3rd", "8 May") rather than a relative one.
        weak: A bare number or weekday abbreviation that is a time only beside another one.
        bound: How the words inside it use it: "Friday after two".
    """

    start: int
    stop: int
    span: Span | None = None
    clock: Clock | None = None
    weekday: int | None = None
    dated: bool = False
    weak: bool = False
    bound: Bound = Bound.AT


Reading: TypeAlias = Callable[[re.Match[str], Reference], Span | Fragment | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and what it means.

    Attributes:
        cues: Strings of which one must occur for the pattern to be worth trying.
        pattern: The words.
        read: Their meaning; None or a ValueError where they have none.
        dated: Whether it names a day of the calendar.
    """

    cues: tuple[str, ...]
    pattern: re.Pattern[str]
    read: Reading
    dated: bool = False

    def pieces(self, text: str, reference: Reference) -> Iterator[Fragment]:
        """Every piece the rule reads in respelt words.

        A day that no calendar has is a piece without meaning, so that no part of it is read.
        """
        if not any(cue in text for cue in self.cues):
            return
        for match in self.pattern.finditer(text):
            try:
                meaning = self.read(match, reference)
            except (ValueError, OverflowError):
                if self.dated:
                    yield Fragment(match.start(), match.end())
                continue
            if isinstance(meaning, Span):
                yield Fragment(match.start(), match.end(), meaning, dated=self.dated)
            elif meaning is not None:
                yield meaning


def pattern(body: str) -> re.Pattern[str]:
    """The body between word edges."""
    return re.compile(rf"(?<!\w)(?:{body})(?!\w)")


def preceded(*words: str) -> str:
    """What stands behind one of the words, as a look-behind."""
    return "(?:" + "|".join(rf"(?<=\b{word}\s)" for word in words) + ")"


DIGITS: Final = tuple("0123456789")
"""Cues of rules that need a number."""
MONTH_CUES: Final = tuple(month[:3] for month in MONTHS)
"""Cues of rules that need a month."""
MONTH: Final = (
    rf"(?:{'|'.join(MONTHS)}|(?:jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)(?![a-z]))"
)
ORDINAL: Final = r"(?:st|nd|rd|th)"
YEAR: Final = r"(?:1[5-9]|20)\d\d"
WEEKDAY: Final = rf"(?:{'|'.join(WEEKDAYS)}|tues?|thurs?|thur?|fri|mon|wed|sat|sun)"
LAST: Final = ("last", "past", "previous", "preceding")
THIS: Final = ("this", "current")
WHICH: Final = (
    r"(?:this\s+past|this\s+coming|last|past|previous|this|current|next|coming|upcoming|following)"
)
UNIT: Final = rf"(?:(?:{'|'.join(UNITS)})s?|secs?|mins?|hrs?|h|yrs?)"
AMOUNT_WORDS: Final = (
    r"(?:\d+(?:\.\d+)?|an?|half(?: an?)?|(?:a )?couple(?: of)?|(?:a )?few|several)"
)
_COUNTED: Final = rf"{AMOUNT_WORDS}(?: and (?:an? )?half)?\s*(?:calendar )?{UNIT}"
AMOUNT: Final = rf"{_COUNTED}(?:(?:,| and)?\s*{_COUNTED}){{0,5}}(?: and a half)?"
"""A duration: "3 days", "2 years 21 days", "an hour and a half"; years to seconds are six. Of a
longer list each would be tried with all behind."""

_AMOUNT: Final = re.compile(
    rf"(?P<count>{AMOUNT_WORDS})(?P<half> and (?:an? )?half)?\s*(?:calendar )?(?P<unit>{UNIT})(?!\w)(?P<more> and a half)?"
)
_PIVOT: Final = 40
"""Two-digit years from here on lie in the last century, as Microsoft's Recognizers read them."""
_SHORT: Final = {"sec": "second", "min": "minute", "hr": "hour", "h": "hour", "yr": "year"}
_SMALLER: Final = {"week": "day", "month": "day", "year": "month", "decade": "year"}
_FEW: Final = {"a": 1.0, "an": 1.0, "half": 0.5, "half a": 0.5, "half an": 0.5, "several": 3.0}


def unit_of(word: str) -> str:
    """The unit in the singular: "hrs" → "hour"."""
    single = word.removesuffix("s")
    return _SHORT.get(single, single)


def full_year(digits: str) -> int:
    """The year of four digits, or of two with or without an apostrophe ("'98")."""
    digits = digits.lstrip("'")
    return (
        int(digits) if len(digits) > 2 else int(digits) + (1900 if int(digits) >= _PIVOT else 2000)
    )


def month_of(word: str) -> int:
    """1 to 12."""
    return next(number for number, month in enumerate(MONTHS, 1) if month.startswith(word[:3]))


def weekday_of(word: str) -> int:
    """0 for Monday to 6."""
    return next(number for number, weekday in enumerate(WEEKDAYS) if weekday.startswith(word[:3]))


def step(which: str) -> int:
    """-1 for "last", 0 for "this", 1 for "next"."""
    which = which.split()[-1]
    return -1 if which in LAST else 0 if which in THIS else 1


@dataclass(frozen=True, slots=True)
class Amount:
    """A duration as it was counted: pairs of number and unit."""

    parts: tuple[tuple[float, str], ...]

    @property
    def finest(self) -> str:
        """The smallest unit in it, a smaller one where halves of a unit are counted."""
        return min(
            (_SMALLER.get(unit, unit) if count % 1 else unit for count, unit in self.parts),
            key=UNITS.index,
        )

    def away(self, moment: datetime, sign: int = 1) -> datetime:
        """The moment so far away."""
        for count, unit in self.parts:
            moment = counted(moment, unit, sign * count)
        return moment


def amount(text: str) -> Amount:
    """The duration that `AMOUNT` matched."""
    return Amount(
        tuple((_number(match), unit_of(match["unit"])) for match in _AMOUNT.finditer(text))
    )


def number_of(word: str) -> float:
    """The number of a count: "a couple of" is 2, "a few" 3."""
    return _FEW.get(word) or (2.0 if "couple" in word else 3.0 if "few" in word else float(word))


def _number(match: re.Match[str]) -> float:
    return number_of(match["count"]) + (0.5 if match["half"] or match["more"] else 0.0)
