"""Import of transcripts: lines with a name, a colon and text, as messengers export them.

    Ana: I moved to Porto.
    [09:05] Bot: How do you like it?
    2024-05-06 09:06 Ana: Very much.
    06/05/2024, 9:07 PM - Ana: It rains a lot,          (WhatsApp and others)
    but I like rain.                                    (continued)
    --- 7 May 2024 ---                                  (date of the following turns)

If the first turn has a time, every turn has one, and a line without a time continues the turn
before it. Otherwise every line with a name and a colon starts a turn.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Final

from dateutil import parser

from hotmem.errors import InvalidInput
from hotmem.portability.messages import ConversationOptions, ImportNotes, TurnIds
from hotmem.text.validation import MAX_TEXT_CHARACTERS
from hotmem.types import Role, Turn

SESSION_GAP: Final = timedelta(hours=4)
"""Pause after which a new session starts."""

MIDNIGHT_JUMP: Final = timedelta(hours=12)
"""A time without date that is earlier than the previous by more than this is the next day."""

DETECTION_LINES: Final = 200
"""First lines of a file in which a turn must occur."""

_DAY: Final = r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}"
_WRITTEN_DATE: Final = (
    r"(?:[A-Za-z]+day,?\s+)?(?:\d{1,2}(?:st|nd|rd|th)?\.?\s+)?[A-Z][a-z]{2,8}\.?,?\s+"
    r"(?:\d{1,2}(?:st|nd|rd|th)?,?\s+)?\d{4}"
)
_CLOCK: Final = r"\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?(?:\s?[AaPp]\.?[Mm]\.?)?"
_ZONE: Final = r"(?:\s?(?:Z|[+-]\d\d:?\d\d))?"
_STAMP: Final = rf"(?:(?:{_DAY}|{_WRITTEN_DATE})(?:(?:,?\s+|T)(?:at\s+)?{_CLOCK}{_ZONE})?|{_CLOCK})"
_NAME: Final = r"[^\W\d_][\w .'’&-]{0,58}?"
_TURN: Final = re.compile(
    rf"^\s*(?:[\[(]?(?P<stamp>{_STAMP})[\])]?(?:\s*[-–—:|]\s*|\s+))?"
    rf"(?:~\s?)?\**(?P<speaker>{_NAME})\**"
    rf"(?:\s*[\[(](?P<after>{_STAMP})[\])])?\s*:\**\s+\**(?P<text>\S.*)$"
)
_HEADING: Final = re.compile(rf"^[\s\-–—=#*_\[(]*(?P<day>{_DAY}|{_WRITTEN_DATE})[\s\-–—=#*_\])]*$")
_DATED: Final = re.compile(rf"^\s*[\[(]?(?:{_DAY})[,\s]")
_AMBIGUOUS_DATE: Final = re.compile(r"^\D*(\d{1,2})[./](\d{1,2})[./]\d{2,4}")
_AM_PM: Final = re.compile(r"\d\s?[AaPp]\.?[Mm]\b")
_DIRECTION_MARKS: Final = str.maketrans("", "", "\u200e\u200f\u202a\u202c\ufeff")
"""Unicode direction marks, which messengers add before times and names."""


@dataclass(slots=True)
class _RawTurn:
    """A turn as written, with its first line number."""

    line: int
    stamp: str | None
    day: str | None
    speaker: str
    text: str


def is_transcript(path: Path) -> bool:
    """Whether the first lines of a file contain a turn.

    Raises:
        InvalidInput: If the file cannot be read.
    """
    return any(_TURN.match(line) for _, line in islice(_lines(path), DETECTION_LINES))


def turns(path: Path, options: ConversationOptions, notes: ImportNotes) -> Iterator[Turn]:
    """Read the turns of a file. A new session starts after each pause of four hours.

    Args:
        path: The file.
        options: User, session and other options.
        notes: Collects skipped and undated turns, and warnings.

    Raises:
        InvalidInput: If a turn is invalid; the message names its line.
    """
    day_first = options.day_first if options.day_first is not None else _day_first(path, notes)
    ids = TurnIds(options.session)
    session, last = options.session, None
    for raw in _raw_turns(path, notes):
        where = f"Line {raw.line}"
        time, dated = _time(raw, last, options, where, day_first=day_first)
        if not dated and last is None:
            notes.warnings.append(f"The file has no first date; {time:%Y-%m-%d} is used.")
        notes.undated += not raw.stamp and not dated
        if last is None or time - last > SESSION_GAP:
            session = (
                f"{options.session} {time:%Y-%m-%d %H:%M}" if dated or last else options.session
            )
        last = time
        role = Role.ASSISTANT if raw.speaker.casefold() in options.bots else Role.USER
        turn_id = ids.next_id(
            {"at": raw.stamp, "day": raw.day, "speaker": raw.speaker, "text": raw.text}
        )
        try:
            yield Turn(options.user_id, session, role, raw.text, time, raw.speaker, turn_id)
        except InvalidInput as error:
            raise InvalidInput(f"{where} is invalid: {error}") from error


def _raw_turns(path: Path, notes: ImportNotes) -> Iterator[_RawTurn]:
    """Join the lines of each turn; lines before the first turn are skipped."""
    current: _RawTurn | None = None
    day: str | None = None
    stamped: bool | None = None
    for number, line in _lines(path):
        if heading := _HEADING.match(line):
            day = heading["day"]
            continue
        begun = _TURN.match(line)
        stamp = begun and (begun["stamp"] or begun["after"])
        if begun and (stamp or not stamped):
            stamped = bool(stamp) if stamped is None else stamped
            if current is not None:
                yield current
            current = _RawTurn(number, stamp, day, begun["speaker"].strip(), begun["text"].strip())
        elif line.strip() and (current is None or (stamped and _DATED.match(line))):
            notes.skipped["lines without a speaker"] += 1
        elif line.strip() and current is not None:
            if len(current.text) + len(line) > MAX_TEXT_CHARACTERS:
                raise InvalidInput(
                    f"Line {number} continues a turn of over {MAX_TEXT_CHARACTERS:,} characters. "
                    "Start every turn with a name and a colon."
                )
            current.text += f"\n{line.strip()}"
    if current is not None:
        yield current


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                yield (
                    number,
                    line.translate(_DIRECTION_MARKS)
                    .replace("\u202f", " ")
                    .replace("\xa0", " ")
                    .rstrip(),
                )
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{path} cannot be read ({type(error).__name__}). Pass a text file in UTF-8."
        ) from error


def _day_first(path: Path, notes: ImportNotes) -> bool:
    """Whether 06/05/2024 is in May.

    Decided by the first unambiguous date; without one, the month is first if times have AM or PM.
    """
    am_pm = ambiguous = False
    for _, line in _lines(path):
        if numbers := _AMBIGUOUS_DATE.match(line):
            ambiguous = True
            if int(numbers[1]) > 12 or int(numbers[2]) > 12:
                return int(numbers[1]) > 12
        am_pm = am_pm or bool(_AM_PM.search(line[:40]))
    if ambiguous:
        first = "month" if am_pm else "day"
        notes.warnings.append(
            f"The order of day and month is ambiguous; the {first} is read first. "
            "Pass day_first (--day-first, --month-first) to set it."
        )
    return not am_pm


def _time(
    raw: _RawTurn,
    last: datetime | None,
    options: ConversationOptions,
    where: str,
    *,
    day_first: bool,
) -> tuple[datetime, bool]:
    """Return the time of a turn, and whether its date is given or that of the previous turn."""
    stamp = raw.stamp or ""
    own = re.match(rf"(?:{_DAY}|{_WRITTEN_DATE})", stamp)
    day = own[0] if own else raw.day
    try:
        clock = stamp[own.end() :].strip(" ,T").removeprefix("at ") if own else stamp
        start = (last or options.undated).astimezone(options.zone)
        if day:
            start = _parse_date(day, day_first=day_first).replace(tzinfo=options.zone)
        time = (
            parser.parse(clock, default=start.replace(hour=0, minute=0, second=0, microsecond=0))
            if clock
            else start
        )
    except (ValueError, OverflowError) as error:
        raise InvalidInput(
            f"{where}: {stamp or day!r} is not a time. Write 2024-05-06 09:00."
        ) from error
    if not own and clock and last is not None and time < last - MIDNIGHT_JUMP:
        time += timedelta(days=1)
    return time if clock or last is None or time > last else last, bool(day)


def _parse_date(day: str, *, day_first: bool) -> datetime:
    """Parse a date; one that starts with the year is always year, month, day."""
    time: datetime = parser.parse(
        day, default=datetime(2000, 1, 1), dayfirst=day_first and not re.match(r"\d{4}", day)
    )
    return time
