"""Times of day: "at 5 pm", "half past three", "from 10 to 11:30", "in the late afternoon"."""

import re
from typing import Final

from hotmem.temporal.fragments import DIGITS, Clock, Fragment, Rule
from hotmem.temporal.units import Reference

PARTS: Final = {
    "morning": (8, 12),
    "afternoon": (12, 16),
    "evening": (16, 20),
    "night": (20, 24),
    "daytime": (8, 18),
    "lunchtime": (11, 13),
}
"""Hours of the parts of a day, as Microsoft's Recognizers count them."""

DAWN: Final = 7
"""The hour before which a time told without its half of the day is taken for the afternoon."""

PART: Final = r"morning|afternoon|evening|night|daytime|lunchtime"
_SIDE: Final = r"(?:a\.?m\.?|p\.?m\.?|a|p)(?!\w)"
_O_CLOCK: Final = r"(?:\s*(?:o'?clock|oclock))"
_WHEN: Final = rf"\s+(?:in\s+the\s+(?:early\s+)?(?:morning|afternoon|evening)|at\s+night|this\s+morning(?!\w))|\s*(?:{_SIDE})"
_PAST: Final = (
    r"(?:half|(?:a\s+)?quarter|\d\d?(?:\s*min(?:ute)?s?)?)\s+(?:past|after|to|before)\s+\d\d?"
)
_HOUR: Final = rf"(?:noon(?:ish)?|mid[\s-]?day|mid[\s-]?night|{_PAST}|(?:[01]?\d|2[0-4])(?:[:.]?[0-5]\d(?::[0-5]\d)?|\s[1-5]\d)?){_O_CLOCK}?"
_WHERE: Final = r"(?:at|for|by|until|till|since|before|after|around|about|circa)"
_EDGE: Final = r"(?:(?<![\w$€£.:/-])|(?<=\dt))"
_END: Final = r"(?![\w%:/]|[.,-]\d|\s+(?:seconds?|minutes?|mins?|hours?|days?|weeks?|months?|years?|people|times)\b)"


def _named(name: str) -> str:
    """The pattern of a time of day, its hour and its half of the day under a name."""
    return rf"(?P<{name}>{_HOUR})(?P<{name}_when>{_WHEN})?"


_RANGE: Final = re.compile(
    rf"{_EDGE}(?:(?P<lead>from|between)\s+)?{_named('first')}\s*(?:to|-|until|till|through|and)\s*{_named('last')}{_END}"
)
_SINGLE: Final = re.compile(rf"{_EDGE}(?P<lead>(?:{_WHERE}\s+)*){_named('first')}{_END}")
_PART_FIRST: Final = re.compile(
    rf"(?<!\w)(?:(?:in|at|during)\s+)?(?:the\s+)?(?P<half>early|late|mid(?!\s*night))?(?:[\s-]+in)?[\s-]*(?:the\s+)?(?P<part>{PART})"
    rf"(?:\s+at\s+(?P<hour>(?:[01]?\d|2[0-4])(?:[:.][0-5]\d)?))?(?![\w-])"
)
_AT: Final = re.compile(r"\b(?:at|after|before|until|till|by)\b")
_DIGITS: Final = re.compile(r"^(\d{1,2}?)(?:[:. ]?([0-5]\d))?(?::[0-5]\d)?$")


def _minutes(hour: str) -> tuple[int, bool]:
    """Minutes from midnight of an hour in words, and whether its half of the day is open."""
    plain = re.sub(r"\s*o'?clock", "", hour).strip()
    if re.fullmatch(r"(?:19|20)\d\d", plain):
        raise ValueError(hour)
    if plain.startswith("noon") or plain.endswith("day"):
        return 720, False
    if plain.startswith("mid"):
        return 0, False
    if past := re.match(
        r"(?:(half)|(?:a\s+)?(quarter)|(\d+)).*?(past|after|to|before)\s+(\d+)$", plain
    ):
        minutes = 30 if past[1] else 15 if past[2] else int(past[3])
        full = int(past[5]) * 60
        if full > 1440 or minutes > 59:
            raise ValueError(hour)
        return full + (minutes if past[4] in ("past", "after") else -minutes), full <= 720
    digits = _DIGITS.match(plain)
    if digits is None:
        raise ValueError(hour)
    value = int(digits[1])
    if value > 24:
        raise ValueError(hour)
    return value * 60 + int(digits[2] or 0), 0 < value <= 12 and not (
        len(digits[1]) == 2 and digits[1][0] == "0"
    )


def _sided(minutes: int, when: str) -> int:
    """The minutes in the half of the day that "pm" or "in the evening" tell."""
    hour, rest = divmod(minutes, 60)
    if (
        when.startswith(("p", "afternoon", "evening"))
        or "afternoon" in when
        or "evening" in when
        or ("night" in when and hour >= 6)
    ):
        return (hour % 12 + 12) * 60 + rest if hour <= 12 else minutes
    return hour % 12 * 60 + rest if hour <= 12 else minutes


def _guessed(minutes: int) -> int:
    """The likelier half of the day: hours before seven are taken for the afternoon."""
    return minutes + 720 if 60 <= minutes < DAWN * 60 else minutes


def _point(match: re.Match[str], name: str) -> tuple[int, bool]:
    minutes, open_ = _minutes(match[name])
    when = (match[f"{name}_when"] or "").strip()
    return (_sided(minutes, when), False) if when else (minutes, open_)


def _telling(match: re.Match[str], name: str) -> bool:
    """Whether the words themselves are a time, not just a number."""
    return bool(match[f"{name}_when"]) or bool(
        re.search(r":|clock|noon|night|midday|past|quarter|half|min", match[name])
    )


def _range(match: re.Match[str], reference: Reference) -> Fragment:
    (first, first_open), (last, last_open) = _point(match, "first"), _point(match, "last")
    halved = first_open and last_open
    when = (match["last_when"] or "").strip()
    if first_open and not last_open and when:
        sided = _sided(first, when)
        first = sided if sided < last else first
    elif halved and not re.search(r"^0", match["first"]):
        first = _guessed(first)
        last = last if last > first else last + 720
    elif last_open and last <= first and not when:
        last += 720
    if last <= first:
        last += 720 if last_open and last + 720 > first else 1440
    weak = not (
        _telling(match, "first")
        or _telling(match, "last")
        or (match["lead"] and re.fullmatch(r"\d \d\d|\d{4}|\d\d?", match["last"].strip()))
    )
    return Fragment(match.start(), match.end(), clock=Clock(first, last, halved=halved), weak=weak)


def _single(match: re.Match[str], reference: Reference) -> Fragment:
    minutes, open_ = _point(match, "first")
    digits = match["first"].strip()
    if open_:
        minutes = _guessed(minutes)
    weak = not _telling(match, "first") and not (
        _AT.search(match["lead"]) and re.fullmatch(r"\d\d?(?:[. ]\d\d)?", digits)
    )
    if weak and len(digits) > 2 and digits.isdigit():
        raise ValueError(digits)
    return Fragment(
        match.start("first"), match.end(), clock=Clock(minutes, minutes, halved=open_), weak=weak
    )


def _part(match: re.Match[str], reference: Reference) -> Fragment:
    first, last = PARTS[match["part"]]
    if hour := match["hour"]:
        minutes, _ = _minutes(hour)
        minutes = _sided(minutes, match["part"])
        return Fragment(match.start(), match.end(), clock=Clock(minutes, minutes))
    if match["half"] == "early":
        last = first + 2
    elif match["half"] == "late":
        first = last - 2
    weak = not re.search(r"\b(?:in|at|during)\b", match[0])
    return Fragment(
        match.start(), match.end(), clock=Clock(first * 60, last * 60, named=True), weak=weak
    )


RULES: Final = (
    Rule((*DIGITS, "noon", "mid"), _RANGE, _range),
    Rule((*DIGITS, "noon", "mid"), _SINGLE, _single),
    Rule(("morning", "noon", "evening", "night", "daytime", "lunchtime"), _PART_FIRST, _part),
)
