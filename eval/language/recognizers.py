"""The English date and time cases of Microsoft's Recognizers.

Utterances, clocks and what was meant.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from eval.datasets.base import read_json

FILES: Final = (
    "DateParser",
    "DatePeriodParser",
    "DateTimePeriodParser",
    "MergedParser",
    "DateTimeModel",
)


class Kind(StrEnum):
    """What sort of result a case wants."""

    DATE = "date"
    DATES = "daterange"
    MOMENT = "datetime"
    MOMENTS = "datetimerange"
    CLOCK = "time"
    CLOCKS = "timerange"
    NOTHING = "nothing"
    DURATION = "duration"
    SET = "set"
    OTHER = "out of scope"


SCOPE: Final = frozenset(
    {Kind.DATE, Kind.DATES, Kind.MOMENT, Kind.MOMENTS, Kind.CLOCK, Kind.CLOCKS}
)
_FEASTS: Final = (
    r"easter|christmas|xmas|halloween|thanksgiving|new year(?:'s)?|ramadan|eid|diwali|hanukk?ah|"
    r"juneteenth|labou?r day|workers' day|valentine\S*|mothers?'?s?'? day|fathers?'?s?'? day|"
    r"holidays?|mlk|martin luther|memorial day|black friday|cyber monday|st\.? \w+'?s day|"
    r"international \w+|\w+ day(?= of remembrance)|veterans?|independence|columbus|presidents?|"
    r"earth day|good friday|palm sunday|ash wednesday"
)
_OTHER: Final = re.compile(
    rf"\b(?:{_FEASTS}|fiscal|fy\d*|school year|sy\d*|business days?)\b", re.IGNORECASE
)
"""Words of results that are out of scope though they are dates."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One value the corpus allows; a side that is None is open."""

    start: datetime | None
    end: datetime | None
    exact: bool
    moment: bool


@dataclass(frozen=True, slots=True)
class Wanted:
    """One result of a case: its words, its kind, and its readings of the past and of the future."""

    text: str
    kind: Kind
    past: tuple[Reading, ...]
    future: tuple[Reading, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One utterance of the corpus.

    Attributes:
        file: Where it stands.
        place: Its number there.
        text: The utterance.
        at: Its clock, UTC.
        wanted: What it names, in order.
    """

    file: str
    place: int
    text: str
    at: datetime
    wanted: tuple[Wanted, ...]

    @property
    def kind(self) -> Kind:
        """The kind of its first result in scope, else of its first."""
        kinds = [one.kind for one in self.wanted]
        return next((kind for kind in kinds if kind in SCOPE), kinds[0] if kinds else Kind.NOTHING)

    @property
    def applicable(self) -> bool:
        """Whether it can be counted: it wants a time in scope, or none at all."""
        return self.kind in SCOPE or self.kind is Kind.NOTHING


def cases(path: Path) -> Iterator[Case]:
    """The cases of every file of the corpus in a folder."""
    for file in FILES:
        for place, row in enumerate(read_json(path / f"{file}.json")):
            clock = (row.get("Context") or {}).get("ReferenceDateTime") or "2016-11-07T00:00:00"
            at = datetime.fromisoformat(clock[:19]).replace(tzinfo=UTC)
            yield Case(
                file, place, row["Input"], at, tuple(_wanted(result) for result in row["Results"])
            )


def _wanted(result: dict[str, Any]) -> Wanted:
    words, name = (
        result["Text"],
        str(result.get("TypeName") or result["Type"]).removeprefix("datetimeV2."),
    )
    value = result.get("Value") or result.get("Resolution") or {}
    kind = Kind(name) if name in tuple(Kind) else Kind.OTHER
    if kind not in SCOPE:
        return Wanted(words, kind, (), ())
    if "values" in value:
        values = [
            each
            for each in value["values"]
            if any(key in each for key in ("start", "end", "value"))
        ]
        readings = [reading for each in values if (reading := _reading(each))]
        past, future = _directions(readings)
        unresolved = any(each.get("value") == "not resolved" for each in value["values"])
        present = any(each.get("timex") == "PRESENT_REF" for each in value["values"])
    else:
        past, future = (
            tuple(filter(None, [_reading(value.get(f"{side}Resolution") or {})]))
            for side in ("Past", "Future")
        )
        unresolved, present = not past, False
    invalid = bool(re.search(r"\b(?:30|31)\b|31st", words)) and (
        unresolved or any(r.start and r.start.year == 1 for r in past)
    )
    if not invalid and (unresolved or present or _OTHER.search(words) or not (past or future)):
        kind = Kind.OTHER
    return Wanted(words, Kind.NOTHING if invalid else kind, past, future)


_MOMENT_KEYS: Final = ("value", "date", "dateTime", "time")


def _reading(value: dict[str, Any]) -> Reading | None:
    told = next((value[key] for key in _MOMENT_KEYS if key in value), None)
    if told is not None:
        moment = _parsed(told)
        return Reading(moment, None, ":" in told, True) if moment else None
    first = next((item for key, item in value.items() if key.startswith("start")), None)
    last = next((item for key, item in value.items() if key.startswith("end")), None)
    if first is None and last is None:
        return None
    end = _parsed(last)
    if end is not None and (end.hour, end.minute, end.second) == (23, 59, 59):
        end += timedelta(seconds=1)
    return Reading(_parsed(first), end, ":" in (first or last or ""), False)


def _parsed(text: str | None) -> datetime | None:
    if text is None or text == "not resolved":
        return None
    if re.fullmatch(r"\d\d:\d\d:\d\d", text):
        text = f"1970-01-01 {text}"
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _directions(readings: Sequence[Reading]) -> tuple[tuple[Reading, ...], tuple[Reading, ...]]:
    """The earlier and the later of the corpus's readings.

    Two that lie twelve hours apart are of the same direction.
    """
    if not readings:
        return (), ()
    edges = [reading.start or reading.end for reading in readings]
    first, last = min(edge for edge in edges if edge), max(edge for edge in edges if edge)
    near = timedelta(hours=12)
    past = tuple(
        reading
        for reading, edge in zip(readings, edges, strict=True)
        if edge and edge - first <= near
    )
    future = tuple(
        reading
        for reading, edge in zip(readings, edges, strict=True)
        if edge and last - edge <= near
    )
    return past, future
