"""Transcripts of talk as people and messengers write them: a name, a colon, and what was said.

    Ana: I moved to Porto.
    [09:05] Bot: How do you like it?
    2024-05-06 09:06 Ana: Very much.
    06/05/2024, 9:07 PM - Ana: It rains a lot,          (WhatsApp and others)
    but I like rain.                                    (goes on)
    --- 7 May 2024 ---                                  (the day of what follows)

Where the first turn carries a time all do, and a line without one goes on with what was said;
elsewhere each name with its colon begins a turn.
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
from hotmem.portability.foreign_records import Names, Notes, Talk
from hotmem.text.validation import MAX_TEXT_CHARACTERS
from hotmem.types import Role, Turn

PAUSE: Final = timedelta(hours=4)
"""Silence after which a new conversation begins."""

NIGHT: Final = timedelta(hours=12)
"""A clock without a day that jumps back this far went past midnight."""

LOOKED_AT: Final = 200
"""Lines among which a file that is a transcript has a turn."""

_DAY: Final = r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}"
_WORDED: Final = r"(?:[A-Za-z]+day,?\s+)?(?:\d{1,2}(?:st|nd|rd|th)?\.?\s+)?[A-Z][a-z]{2,8}\.?,?\s+(?:\d{1,2}(?:st|nd|rd|th)?,?\s+)?\d{4}"
_CLOCK: Final = r"\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?(?:\s?[AaPp]\.?[Mm]\.?)?"
_ZONE: Final = r"(?:\s?(?:Z|[+-]\d\d:?\d\d))?"
_STAMP: Final = rf"(?:(?:{_DAY}|{_WORDED})(?:(?:,?\s+|T)(?:at\s+)?{_CLOCK}{_ZONE})?|{_CLOCK})"
_NAME: Final = r"[^\W\d_][\w .'’&-]{0,58}?"
_TURN: Final = re.compile(
    rf"^\s*(?:[\[(]?(?P<stamp>{_STAMP})[\])]?(?:\s*[-–—:|]\s*|\s+))?(?:~\s?)?\**(?P<speaker>{_NAME})\**"
    rf"(?:\s*[\[(](?P<after>{_STAMP})[\])])?\s*:\**\s+\**(?P<text>\S.*)$"
)
_HEADING: Final = re.compile(rf"^[\s\-–—=#*_\[(]*(?P<day>{_DAY}|{_WORDED})[\s\-–—=#*_\])]*$")
_DATED: Final = re.compile(rf"^\s*[\[(]?(?:{_DAY})[,\s]")
_TWO_DAYS: Final = re.compile(r"^\D*(\d{1,2})[./](\d{1,2})[./]\d{2,4}")
_HALF_DAY: Final = re.compile(r"\d\s?[AaPp]\.?[Mm]\b")
_MARKS: Final = str.maketrans("", "", "\u200e\u200f\u202a\u202c\ufeff")
"""Marks of direction, which messengers put before times and names; the spaces before AM are made
plain too."""


@dataclass(slots=True)
class _Said:
    """A turn while its lines are read."""

    line: int
    stamp: str | None
    day: str | None
    speaker: str
    text: str


def is_transcript(path: Path) -> bool:
    """Whether a turn stands among a file's first lines.

    Raises:
        InvalidInput: If the file cannot be read.
    """
    return any(_TURN.match(line) for _, line in islice(_lines(path), LOOKED_AT))


def turns(path: Path, talk: Talk, notes: Notes) -> Iterator[Turn]:
    """The turns of a file. A new session begins after each pause of four hours.

    Args:
        path: The file.
        talk: What the file does not say.
        notes: Takes what is left out, undated, or unsure.

    Raises:
        InvalidInput: If a turn cannot be used, naming its line.
    """
    day_first = talk.day_first if talk.day_first is not None else _day_first(path, notes)
    names = Names(talk.session)
    session, last = talk.session, None
    for said in _said(path, notes):
        where = f"Line {said.line}"
        moment, dated = _moment(said, last, talk, where, day_first=day_first)
        if not dated and last is None:
            notes.told.append(f"The file does not tell its first day; {moment:%Y-%m-%d} was taken.")
        notes.undated += not said.stamp and not dated
        if last is None or moment - last > PAUSE:
            session = f"{talk.session} {moment:%Y-%m-%d %H:%M}" if dated or last else talk.session
        last = moment
        role = Role.ASSISTANT if said.speaker.casefold() in talk.bots else Role.USER
        name = names.following(
            {"at": said.stamp, "day": said.day, "speaker": said.speaker, "text": said.text}
        )
        try:
            yield Turn(talk.user_id, session, role, said.text, moment, said.speaker, name)
        except InvalidInput as error:
            raise InvalidInput(f"{where} cannot be used: {error}") from error


def _said(path: Path, notes: Notes) -> Iterator[_Said]:
    """Each turn with all its lines; what stands before the first is nobody's."""
    current: _Said | None = None
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
            current = _Said(number, stamp, day, begun["speaker"].strip(), begun["text"].strip())
        elif line.strip() and (current is None or (stamped and _DATED.match(line))):
            notes.left_out["lines of no speaker"] += 1
        elif line.strip() and current is not None:
            if len(current.text) + len(line) > MAX_TEXT_CHARACTERS:
                raise InvalidInput(
                    f"Line {number} goes on with a turn of over {MAX_TEXT_CHARACTERS:,} characters. Put a name and a colon before each."
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
                    line.translate(_MARKS).replace("\u202f", " ").replace("\xa0", " ").rstrip(),
                )
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{path} cannot be read ({type(error).__name__}). Pass a text file in UTF-8."
        ) from error


def _day_first(path: Path, notes: Notes) -> bool:
    """Whether 06/05/2024 is in May.

    By the first date that can be read in one way only; else not where the clock says AM and PM.
    """
    american = numbered = False
    for _, line in _lines(path):
        if numbers := _TWO_DAYS.match(line):
            numbered = True
            if int(numbers[1]) > 12 or int(numbers[2]) > 12:
                return int(numbers[1]) > 12
        american = american or bool(_HALF_DAY.search(line[:40]))
    if numbered:
        order = "the month" if american else "the day"
        notes.told.append(
            f"No date tells whether the day or the month stands first; {order} was taken. Name day_first (--day-first, --month-first) to say it."
        )
    return not american


def _moment(
    said: _Said, last: datetime | None, talk: Talk, where: str, *, day_first: bool
) -> tuple[datetime, bool]:
    """When a turn was said, and whether its day is told; else it is that of the turn before."""
    stamp = said.stamp or ""
    own = re.match(rf"(?:{_DAY}|{_WORDED})", stamp)
    day = own[0] if own else said.day
    try:
        clock = stamp[own.end() :].strip(" ,T").removeprefix("at ") if own else stamp
        start = (last or talk.undated).astimezone(talk.zone)
        if day:
            start = _read(day, day_first=day_first).replace(tzinfo=talk.zone)
        moment = (
            parser.parse(clock, default=start.replace(hour=0, minute=0, second=0, microsecond=0))
            if clock
            else start
        )
    except (ValueError, OverflowError) as error:
        raise InvalidInput(
            f"{where}: {stamp or day!r} is no time. Write 2024-05-06 09:00."
        ) from error
    if not own and clock and last is not None and moment < last - NIGHT:
        moment += timedelta(days=1)
    return moment if clock or last is None or moment > last else last, bool(day)


def _read(day: str, *, day_first: bool) -> datetime:
    """Midnight of a day as it is written; one that begins with the year has one order only."""
    moment: datetime = parser.parse(
        day, default=datetime(2000, 1, 1), dayfirst=day_first and not re.match(r"\d{4}", day)
    )
    return moment
