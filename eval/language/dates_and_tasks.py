"""Dates and tasks in what users say, against labels by a writer who had seen no code.

Each line of `eval/data/plans` is said to an empty memory, and what is read of it is compared with
what a person would note:

- `dates` compares the times of events with the one day or month on which the event is. A line is
  right if one of them is that day or lies in that month, and none is at another time; a line
  without a date is right if none is read.
- `tasks` compares the memories of kind "reminder" with the one task of the line. A memory is the
  task if it has half of its content words. A line without a task is right if no reminder is read.

Rules were tuned on the lines of `dev` alone.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Final

from eval.arguments import AsJson, Held, Misses, Most
from eval.content_words import content_words
from eval.files import json_records
from eval.output import print_json, print_table
from eval.statistics import bootstrap
from hotmem import Role, Turn
from hotmem.core.threads import ForegroundPriority
from hotmem.models import load_encoder, load_language, load_reader
from hotmem.options import ModelOptions
from hotmem.text.stemming import stem
from hotmem.types import EventTime, Kind, Profile, TurnContext, Understanding
from hotmem.understanding.turn_reader import TurnReader

FOLDER: Final = Path(__file__).parents[1] / "data" / "plans"
SAID_ON: Final = "2026-10-07"
"""When a line without a date is said: a Wednesday."""

SHARED: Final = 0.5
"""Share of a task's content words from which a memory is that task."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is read of a line.

    Attributes:
        text: The line.
        wanted: The day, the month or the task of the line; None for none.
        found: The times of events, or the memories of kind "reminder".
        right: Whether they are what is wanted.
        kept_right: For each memory found, whether it is the task.
    """

    text: str
    wanted: str | None
    found: tuple[str, ...]
    right: bool
    kept_right: tuple[bool, ...] = ()


def cases(name: str, *, held: bool, limit: int | None) -> list[dict[str, str | None]]:
    """The lines of one half of a file, the first `limit` of them."""
    return json_records(FOLDER / f"{name}.{'held' if held else 'dev'}.jsonl")[:limit]


def readings(lines: Sequence[dict[str, str | None]]) -> Iterator[Understanding]:
    """Yield what is read of each line, said at nine in the morning of its day."""
    reader = TurnReader(
        load_encoder(ModelOptions()), load_language(), ForegroundPriority(), load_reader()
    )
    for number, line in enumerate(lines):
        day = datetime.fromisoformat(line.get("said_on") or SAID_ON).date()
        said_at = datetime.combine(day, time(9), UTC)
        turn = Turn("ana", f"session {number}", Role.USER, str(line["says"]), said_at)
        yield from reader.read([turn], [Profile()], [None], [TurnContext()])


def dated(line: dict[str, str | None], read: Understanding) -> Outcome:
    """Compare the times of events with the day or month of the line."""
    wanted = line["when"]
    if wanted is None:
        right = not read.event_times
    else:
        first = datetime.fromisoformat(wanted if len(wanted) > 7 else f"{wanted}-01")
        start = first.replace(tzinfo=UTC)
        end = start + timedelta(days=1) if len(wanted) > 7 else _next_month(start)
        times = [one.interval for one in read.event_times]
        right = any(start <= one.start and one.end <= end for one in times) and all(
            one.start < end and one.end > start for one in times
        )
    return Outcome(str(line["says"]), wanted, tuple(map(_shown, read.event_times)), right)


def _next_month(start: datetime) -> datetime:
    return (start + timedelta(days=31)).replace(day=1)


def _shown(one: EventTime) -> str:
    return f"{one.interval.start:%Y-%m-%d %H:%M} to {one.interval.end:%Y-%m-%d %H:%M}"


def kept(line: dict[str, str | None], read: Understanding) -> Outcome:
    """Compare the memories of kind "reminder" with the task of the line."""
    wanted = line["task"]
    found = tuple(one.text for one in read.statements if one.kind is Kind.REMINDER)
    matching = tuple(wanted is not None and _is_task(wanted, text) for text in found)
    right = not found if wanted is None else any(matching)
    return Outcome(str(line["says"]), wanted, found, right, matching)


def _is_task(task: str, text: str) -> bool:
    words, other = ({stem(word) for word in content_words(one)} for one in (task, text))
    return len(words & other) >= SHARED * len(words)


def _report(
    name: str,
    compare: Callable[[dict[str, str | None], Understanding], Outcome],
    *,
    held: bool,
    limit: int | None,
    misses: bool,
    as_json: bool,
) -> None:
    lines = cases(name, held=held, limit=limit)
    outcomes = [compare(line, read) for line, read in zip(lines, readings(lines), strict=True)]
    parts = {
        "with one: right": [one.right for one in outcomes if one.wanted is not None],
        "without one: right": [one.right for one in outcomes if one.wanted is None],
        "all: right": [one.right for one in outcomes],
        "reminders kept that are the task": [right for one in outcomes for right in one.kept_right],
    }
    shares = {label: bootstrap(values) for label, values in parts.items() if values}
    rows = [(label, len(parts[label]), found) for label, found in shares.items()]
    print_table(name, (name, "n", "share"), rows)
    for one in outcomes:
        if misses and not (one.right and all(one.kept_right)):
            print(f"{one.text}\n    {one.wanted}; found: {'; '.join(one.found)}")
    print_json(shares, as_json)


def dates(
    held: Held = False, limit: Most = None, misses: Misses = False, as_json: AsJson = False
) -> None:
    """Measure whether what users say is dated as a person would date it."""
    _report("dates", dated, held=held, limit=limit, misses=misses, as_json=as_json)


def tasks(
    held: Held = False, limit: Most = None, misses: Misses = False, as_json: AsJson = False
) -> None:
    """Measure whether tasks become reminders, and nothing else does."""
    _report("tasks", kept, held=held, limit=limit, misses=misses, as_json=as_json)
