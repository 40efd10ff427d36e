"""Accuracy of time expressions on the English test cases of Microsoft's Recognizers.

Each case is an utterance, the time it was said, and the expected results. An expected time counts
as found if it equals the time found after these translations, which are all:

- **Direction.** Where the corpus gives a past and a future reading, the one in the direction of the
  utterance's tense is expected, as `refers_to_future` determines it. Twelve-hour times without "am"
  or "pm" may be in either half of the day, as the corpus lists both.
- **Moments.** A day or a minute equals the interval that it starts. For counted times ("two weeks
  ago") the corpus gives the day that counting reaches; HotMem returns the week, with that day in
  `TimeMention.exact_moment`, which is compared.
- **Ends.** The corpus ends "from 4 to 22" at the start of the 22nd, HotMem at its end: both are
  accepted if the end was named; the column "inclusive end" counts them. 23:59:59 is midnight. Where
  the corpus gives dates only, dates are compared.
- **Open sides.** For "before", "after", "since" and "until" only the side that the corpus gives is
  compared, exactly or by one named day, as above.
- **Bare times of day** ("at 5 pm") are compared by the clock, on any day.

A case is right if every applicable time in it is found, in order, and no other; a case without any
time is right if nothing is found. Results that are not an interval are out of scope and counted
separately: durations ("for 3 hours") and sets ("every Tuesday"), in which nothing should be found
("silent"), holidays (they need a calendar by country and religion), times that the corpus leaves
unresolved (seasons), "now", time zones, business days, and fiscal and school years. A case with
only such results is not applicable; next to others they must yield nothing.
"""

import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

from eval.arguments import AsJson, Most
from eval.language.recognizers import FILES, SCOPE, Case, Kind, Reading, Wanted, cases
from eval.output import print_json, print_table
from eval.statistics import bootstrap
from hotmem.models.language import load_language
from hotmem.temporal import Granularity, TimeMention, find_times
from hotmem.understanding.query.analyzer import refers_to_future


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a case.

    Attributes:
        case: The case.
        right: Whether it was right.
        inclusive: Whether an end was equal only as an inclusive one.
        found: The times found.
    """

    case: Case
    right: bool
    inclusive: bool
    found: tuple[TimeMention, ...]


def evaluate_case(case: Case, *, ahead: bool) -> Outcome:
    """Find the times of a case and compare them with the expected ones."""
    found = find_times(case.text, case.at, ahead=ahead, include_clock_times=True)
    wanted = [one for one in case.wanted if one.kind in SCOPE]
    if len(found) != len(wanted):
        return Outcome(case, False, False, found)
    verdicts = [
        _compare(one, mention, ahead=ahead) for one, mention in zip(wanted, found, strict=True)
    ]
    return Outcome(
        case, all(right for right, _ in verdicts), any(full for _, full in verdicts), found
    )


def _compare(wanted: Wanted, mention: TimeMention, *, ahead: bool) -> tuple[bool, bool]:
    """Whether any reading matches, and whether only with an inclusive end."""
    readings = (wanted.future if ahead else wanted.past) or wanted.past or wanted.future
    verdicts = [
        _matches(_shift(reading, hours), mention, clock=wanted.kind in (Kind.CLOCK, Kind.CLOCKS))
        for reading in readings
        for hours in ((0, 12, -12) if _is_twelve_hour(wanted.text) and reading.exact else (0,))
    ]
    right = [full for fits, full in verdicts if fits]
    return bool(right), bool(right) and all(right)


_HALF_OF_DAY: Final = re.compile(
    r"\d\s*[ap]\.?m?\b|\b[ap]\.?m\b|morning|afternoon|evening|night|noon|ago|now\b|within|next|last"
    r"|past|\bin\b|later"
)
"""Words next to an hour that determine its half of the day."""


def _is_twelve_hour(words: str) -> bool:
    return not _HALF_OF_DAY.search(words.lower())


def _shift(reading: Reading, hours: int) -> Reading:
    shift = timedelta(hours=hours)
    return Reading(
        reading.start and reading.start + shift,
        reading.end and reading.end + shift,
        reading.exact,
        reading.moment,
    )


def _matches(reading: Reading, mention: TimeMention, *, clock: bool) -> tuple[bool, bool]:
    start, end = mention.interval.start, mention.interval.end
    if clock:
        return _same_clock(reading, mention), False
    if reading.moment:
        fine = mention.granularity in (Granularity.DAY, Granularity.MINUTE)
        moments = [start] * fine + ([mention.exact_moment] if mention.exact_moment else [])
        return any(_equal(reading.start, moment, exact=reading.exact) for moment in moments), False
    if reading.start and reading.end:
        if not _equal(reading.start, start, exact=reading.exact):
            return False, False
        return (
            (True, False)
            if _equal(reading.end, end, exact=reading.exact)
            else (_named_end(reading.end, end), True)
        )
    edges = [start, end, *([mention.exact_moment] if mention.exact_moment else [])]
    edge = reading.start or reading.end
    if mention.bound == "at" and mention.granularity is not Granularity.SPAN:
        return False, False
    return any(_equal(edge, each, exact=reading.exact) for each in edges), False


def _equal(wanted: datetime | None, found: datetime, *, exact: bool) -> bool:
    return wanted is not None and (
        wanted.replace(second=0) == found.replace(second=0, microsecond=0)
        if exact
        else wanted.date() == found.date()
    )


def _named_end(wanted: datetime, found: datetime) -> bool:
    """Whether the end found is the end of the expected day, month, quarter or year."""
    if found == wanted + timedelta(days=1):
        return True
    months = 12 * (found.year - wanted.year) + found.month - wanted.month
    return wanted.day == found.day == 1 and months in (1, 3, 12)


def _same_clock(reading: Reading, mention: TimeMention) -> bool:
    pairs = [(reading.start, mention.interval.start)]
    if not reading.moment:
        pairs.append(
            (
                reading.end,
                mention.interval.end
                if mention.interval.end - mention.interval.start > timedelta(minutes=1)
                else mention.interval.start,
            )
        )
    return mention.clock_only and all(
        wanted is None or wanted.time() == found.time() for wanted, found in pairs
    )


def run_cases(path: Path, limit: int | None) -> list[Outcome]:
    """Evaluate the cases of the corpus, the first `limit` of each file."""
    language = load_language()
    wanted = [case for case in cases(path) if limit is None or case.place < limit]
    return [
        evaluate_case(case, ahead=refers_to_future(language.parse([case.text], names=False)[0]))
        for case in wanted
    ]


def time(
    path: Annotated[
        Path,
        typer.Argument(
            help="Folder with the JSON files of the corpus.", exists=True, file_okay=False
        ),
    ],
    limit: Most = None,
    misses: Annotated[
        bool, typer.Option("--misses", help="List every wrong case by file and number.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure time expressions on the test cases of Microsoft's Recognizers.

    The rules were developed on the cases with an even number.
    """
    outcomes = run_cases(path, limit)
    counted = [outcome for outcome in outcomes if outcome.case.applicable]
    halves = {"even (development)": 0, "odd (held out)": 1}
    groups = {"all": counted} | {
        name: [one for one in counted if one.case.place % 2 == part]
        for name, part in halves.items()
    }
    groups |= {file: [one for one in counted if one.case.file == file] for file in FILES}
    groups |= {kind: [one for one in counted if one.case.kind is kind] for kind in Kind}
    rows: dict[str, dict[str, float]] = {}
    for name, group in groups.items():
        if group:
            right = bootstrap([one.right for one in group])
            rows[name] = {
                "n": len(group),
                "right": round(right.mean, 4),
                "inclusive": sum(one.right and one.inclusive for one in group),
                "low": round(right.low, 4),
                "high": round(right.high, 4),
            }
    headings = ("cases", "n", "right", "inclusive end", "low", "high")
    print_table("Time expressions", headings, [(name, *row.values()) for name, row in rows.items()])
    out_of_scope = [outcome for outcome in outcomes if not outcome.case.applicable]
    scope = Counter(outcome.case.kind for outcome in out_of_scope)
    silent = Counter(outcome.case.kind for outcome in out_of_scope if not outcome.found)
    print_table(
        "out of scope",
        ("kind", "n", "nothing found"),
        [(kind, count, silent[kind]) for kind, count in scope.items()],
    )
    for one in counted if misses else ():
        if not one.right:
            print(f"{one.case.file}:{one.case.place}")
    print_json({"groups": rows, "out_of_scope": scope, "silent": silent}, as_json)
