"""Plans and reminders on the whole system: are they memories with a time, and found by that time?

Each utterance kept as a plan or a reminder is said to a memory of its own, after what the bot had
just said and after a few other turns of the same batch: facts, and a plan for another time. Its
expected time is what the grammar of times alone reads in the words that state it, looking ahead;
utterances for which it reads none or more than one are left out and counted.

- *remembered*: a memory of kind "reminder" is read from the turn, with or without a time;
- *dated*: such a memory has a time that covers the expected one, or is twelve hours from it: the
  grammar alone does not know that one is woken in the morning;
- *delivered*: asked about that time, the block contains the turn or such a memory;
- *first*: and nothing precedes it.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

import typer

from eval.arguments import AsJson, Most
from eval.files import some, tsv_rows
from eval.memories import temporary_memory
from eval.output import print_json, print_table, style, tracked
from eval.statistics import bootstrap
from eval.understanding import data
from hotmem import Role, Turn
from hotmem.models import Encoder, Language, load_language
from hotmem.models.encoders import OnnxEncoder
from hotmem.operations.requests import SearchOptions
from hotmem.temporal import Bound, Granularity, TimeMention, find_times
from hotmem.types import Interval, Kind

KEPT: Final = frozenset({"plan", "reminder"})
SAID_AT: Final = datetime(2026, 10, 7, 9, 30, tzinfo=UTC)
"""When every utterance is said: a Wednesday."""

ASKED_AFTER: Final = timedelta(minutes=20)
"""Time between the utterance and the question, which is asked in another session."""

OTHER_FACTS: Final = 3
"""Other turns that state a fact without a time."""

DEADLINE_MS: Final = 3000.0
MAX_EXCESS: Final = timedelta(days=2)
"""How much longer than the expected time a time may be to cover it: a deadline has a day before."""


@dataclass(frozen=True, slots=True)
class Case:
    """An utterance kept as a plan or a reminder.

    Attributes:
        batch: Its batch.
        clean: Whether it is as written, not as a recogniser gives it.
        before: What the bot had just said; "" if it does not matter.
        text: The utterance.
        keep: "plan" or "reminder".
        when: The words that state its time; "" for none.
        others: Turns said before it in other sessions.
    """

    batch: str
    clean: bool
    before: str
    text: str
    keep: str
    when: str
    others: tuple[str, ...]

    @property
    def expected(self) -> TimeMention | None:
        """Its time by the grammar alone; None if that finds none or more than one."""
        found = find_times(self.when, SAID_AT, ahead=True, include_clock_times=True)
        return found[0] if len(found) == 1 and found[0].bound is not Bound.SINCE else None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a case.

    Attributes:
        case: The case.
        question: The question about its time.
        remembered: Whether a reminder is read from it.
        dated: Whether a reminder that is read from it has its time.
        delivered: Whether the block contains it.
        first: Whether it is the first item of the block.
        memories: The memories read from it, with kind and times.
        block: The block.
    """

    case: Case
    question: str
    remembered: bool
    dated: bool
    delivered: bool
    first: bool
    memories: tuple[str, ...]
    block: str


def cases(batches: Sequence[str]) -> Iterator[Case]:
    """Yield the cases of some batches, in order."""
    for batch in batches:
        rows = [
            tuple("" if field == "-" else field for field in row)
            for row in tsv_rows(data.FOLDER / batch / "utterances.tsv")
        ]
        for place, (written, before, text, keep, *_, when) in enumerate(rows):
            if keep not in KEPT:
                continue
            nearby = [*rows[place + 1 :], *rows[:place]]
            alike = [row for row in nearby if row[0] == written and row[1] == "" and row[2] != text]
            facts = [row[2] for row in alike if row[3] == "fact" and not row[-1]]
            plans = [row[2] for row in alike if row[3] in KEPT and _is_other(row[-1], when)]
            others = (*facts[:OTHER_FACTS], *plans[:1])
            yield Case(batch, written == "clean", before, text, keep, when, others)


def _is_other(words: str, when: str) -> bool:
    """Whether the words state a time that does not overlap that of `when`."""
    one, other = (
        find_times(text, SAID_AT, ahead=True, include_clock_times=True) for text in (words, when)
    )
    return bool(one and other) and not any(
        a.interval.start.date() <= b.interval.end.date()
        and b.interval.start.date() <= a.interval.end.date()
        for a in one
        for b in other
    )


def question_about(time: TimeMention, when: str, *, clean: bool) -> str:
    """The question about a time: about its day, or, if it is longer, in the words that state it."""
    first, last = time.interval.start, time.interval.end - timedelta(microseconds=1)
    ahead = (first.date() - SAID_AT.date()).days
    if first.date() != last.date():
        asked = when if clean else when.lower()
        text = f"What do I have {asked}?"
    elif ahead in (0, 1):
        text = f"What's on {('today', 'tomorrow')[ahead]}?"
    elif ahead < 7:
        text = f"What's on on {first:%A}?"
    else:
        text = f"What's on on the {first.day} of {first:%B}?"
    return text if clean else text.lower().rstrip("?")


def covers(found: Interval, time: TimeMention) -> bool:
    """Whether a time overlaps the expected one in most of the shorter, and is hardly longer."""
    shifts = (0, -12, 12) if time.granularity is Granularity.MINUTE else (0,)
    return any(
        _covers(found, time.interval.start + shift, time.interval.end + shift)
        for shift in (timedelta(hours=hours) for hours in shifts)
    )


def _covers(found: Interval, start: datetime, end: datetime) -> bool:
    both = min(found.end, end) - max(found.start, start)
    lengths = (found.end - found.start, end - start)
    return both >= min(lengths) / 2 and lengths[0] <= lengths[1] + MAX_EXCESS


async def run(case: Case, expected: TimeMention, encoder: Encoder, language: Language) -> Outcome:
    """Say a case to an empty memory, and ask about its time."""
    question = question_about(expected, case.when, clean=case.clean)
    async with temporary_memory(encoder=encoder, language=language) as memory:
        for number, text in enumerate(case.others):
            at = SAID_AT - timedelta(hours=1, minutes=-number)
            await memory.remember(Turn("ana", f"session {number}", Role.USER, text, at))
        if case.before:
            at = SAID_AT - timedelta(seconds=5)
            await memory.remember(Turn("ana", "said", Role.ASSISTANT, case.before, at))
        await memory.remember(Turn("ana", "said", Role.USER, case.text, SAID_AT, id="said"))
        await memory.settle()
        found = await memory.search_memory(
            case.text, user_id="ana", options=SearchOptions(limit=100, include_expired=True)
        )
        block = await memory.recall(
            question,
            user_id="ana",
            session_id="asked",
            at=SAID_AT + ASKED_AFTER,
            deadline_ms=DEADLINE_MS,
        )
    read = [one for one in found.results if one.category is not None and "said" in one.turn_ids]
    reminders = [one for one in read if one.content_type == Kind.REMINDER]
    placed = ["said" in one.turn_ids for one in block.items]
    return Outcome(
        case,
        question,
        bool(reminders),
        any(covers(time, expected) for one in reminders for time in one.times),
        any(placed),
        placed[:1] == [True],
        tuple(
            f"[{one.content_type}] {one.content} {' '.join(map(_shown, one.times))}".strip()
            for one in read
        ),
        block.text,
    )


def _shown(time: Interval) -> str:
    return f"<{time.start:%a %d.%m. %H:%M} to {time.end:%a %d.%m. %H:%M}>"


def plans(
    held_out: Annotated[
        bool, typer.Option("--held-out", help="Measure on the batches that are held out.")
    ] = False,
    failures: Annotated[bool, typer.Option(help="Print the cases that fail.")] = False,
    limit: Most = None,
    as_json: AsJson = False,
) -> None:
    """Say plans and reminders to the memory, and ask what is on at their time."""
    outcomes, skipped = asyncio.run(_measured(limit, held_out=held_out))
    names = ("remembered", "dated", "delivered", "first")
    rows = []
    for keep in sorted(KEPT):
        for clean in (True, False):
            chosen = [o for o in outcomes if (o.case.keep, o.case.clean) == (keep, clean)]
            without = [one for one in skipped if (one.keep, one.clean) == (keep, clean)]
            if chosen:
                shares = (bootstrap([getattr(one, name) for one in chosen]) for name in names)
                rows.append((keep, style(clean=clean), len(chosen), len(without), *shares))
    print_table("plans and reminders", ("said as", "style", "n", "no time read", *names), rows)
    for one in outcomes:
        if failures and not (one.dated and one.first):
            marks = [name for name in names[1:] if not getattr(one, name)]
            print(
                f"{one.case.batch} {one.case.keep}: {one.case.text}\n    not {', '.join(marks)};"
                f" {one.case.when!r}; {one.question} {one.memories}"
            )
    print_json({"outcomes": outcomes, "skipped": skipped}, as_json)


async def _measured(limit: int | None, *, held_out: bool) -> tuple[list[Outcome], list[Case]]:
    encoder, language = await asyncio.to_thread(lambda: (OnnxEncoder.load(), load_language()))
    batches = data.HELD_OUT if held_out else sorted(data.TRAINING + data.CALIBRATION)
    found = some(list(cases(batches)), limit)
    timed = [(one, expected) for one in found if (expected := one.expected) is not None]
    outcomes = [
        await run(one, expected, encoder, language) for one, expected in tracked(timed, "running")
    ]
    return outcomes, [one for one in found if one.expected is None]
