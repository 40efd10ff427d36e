"""HotMem's export format: JSON Lines with all data of one user, one record per line.

    {"type": "export", "version": 2, "user_id": …}
    {"type": "turn", "id": …, "user_id": …, "session_id": …, "role": …, "speaker": …, "text": …,
     "spoken_at": ISO 8601, "zone": …, "entities": [names],
     "happenings": [see hotmem.types.EventTime], "doubts": number of corrections,
     "waiting": whether facts are not extracted yet}
    {"type": "evolution", "user_id": …, and the fields of hotmem.types.EvolutionRecord}
    {"type": "memory", "user_id": …, and the fields of hotmem.types.MemoryRecord}
    {"type": "summary", "user_id": …, and the fields of hotmem.types.SummaryRecord}
    {"type": "weights", "user_id": …, "facts": …, "sessions": …, "semantic": …, "verbatim": …,
     "by_intent": {intent: what is added to weights / start weights, by layer}}
    {"type": "quality", "user_id": …, and the fields of hotmem.types.QualityRecord}
    {"type": "decision", "user_id": …, and the fields of hotmem.types.Decision}
    {"type": "question", "id": …, "user_id": …, "text": …, "asked_at": ISO 8601,
     "evidence": [turn ids], "answer": ""}
    {"type": "end", "user_id": …, "records": number of turn, evolution, memory, summary, weights
     and quality lines}

After an import, a memory answers as before: facts are not extracted again, and vectors are computed
from the texts. Unused tags and replaced subcategories are not exported. Decisions, latest first and
without imports and what was read from turns, are for people and are skipped by an import, as are
questions: recalls with the turns that the reply used, for `python -m eval run hotmem FILE`. A file
that contains only turns, without the first line, is processed like new turns. An export without its
last line is truncated and is refused.
"""

import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError

from hotmem.errors import InvalidInput
from hotmem.portability.messages import ALL_USERS, UserMapping
from hotmem.storage import Storage, queries
from hotmem.storage.queries.times import from_stored
from hotmem.text.timezones import to_named_zone, zone_name
from hotmem.types import (
    Decision,
    DecisionAction,
    EventTime,
    EvolutionRecord,
    ExportedTurn,
    ImportRecord,
    MemoryRecord,
    QualityRecord,
    SummaryRecord,
    Turn,
    UserKey,
    UserRecord,
    WeightsRecord,
)

VERSION: Final = 2

PAGE: Final = 1000
"""Records read from the store at once."""

RECORDS: Final[Mapping[str, TypeAdapter[Any]]] = {
    "evolution": TypeAdapter(EvolutionRecord),
    "memory": TypeAdapter(MemoryRecord),
    "summary": TypeAdapter(SummaryRecord),
    "weights": TypeAdapter(WeightsRecord),
    "quality": TypeAdapter(QualityRecord),
}

COUNTED_TYPES: Final = ("turn", *RECORDS)
"""Types of lines that the last line counts."""

SKIPPED_TYPES: Final = ("decision", "question")
"""Types of lines that an import skips."""

TYPES: Final = ("export", *COUNTED_TYPES, *SKIPPED_TYPES, "end")
"""All line types."""

NO_LIMIT: Final = 2**31
"""More rows than a user has."""

EVENT_TIMES: Final = TypeAdapter(tuple[EventTime, ...])
DECISION: Final = TypeAdapter(Decision)
CORRECTION_COUNT: Final = TypeAdapter(Annotated[int, Field(ge=0)])
ORDER_TIME: Final = TypeAdapter[AwareDatetime | None](AwareDatetime | None)


async def export_lines(storage: Storage, user: UserKey, user_id: str) -> AsyncIterator[str]:
    """Yield the lines of an export of a user, without line ends."""
    database = storage.database
    yield _line("export", {"version": VERSION, "user_id": user_id})
    records = 0
    async for line in _records(storage, user, user_id):
        records += 1
        yield line
    for decision in await database.read(queries.decisions.of_user, user, NO_LIMIT):
        if decision.action is not DecisionAction.IMPORTED:
            yield _line(
                "decision", {"user_id": user_id} | DECISION.dump_python(decision, mode="json")
            )
    for name, query, asked_at, evidence in await database.read(queries.quality.recorded, user):
        question = {
            "id": name,
            "user_id": user_id,
            "text": query,
            "asked_at": from_stored(asked_at).isoformat(),
        }
        yield _line("question", question | {"evidence": evidence, "answer": ""})
    yield _line("end", {"user_id": user_id, "records": records})


async def _records(storage: Storage, user: UserKey, user_id: str) -> AsyncIterator[str]:
    database, last_turn = storage.database, 0
    while page := await database.read(queries.export_rows.turns, user, last_turn, PAGE):
        last_turn = page[-1][0]
        for _, exported in page:
            turn = exported.turn
            record = {
                "id": turn.id,
                "user_id": user_id,
                "session_id": turn.session_id,
                "role": turn.role,
                "speaker": turn.speaker,
                "text": turn.text,
                "spoken_at": turn.spoken_at.isoformat(),
                "zone": zone_name(turn.spoken_at),
            }
            if exported.order_time is not None:
                record["told_at"] = exported.order_time.isoformat()
            derived = {
                "entities": exported.entities,
                "happenings": EVENT_TIMES.dump_python(exported.event_times, mode="json"),
                "doubts": exported.correction_count,
                "waiting": exported.waiting,
            }
            yield _line("turn", record | derived)
    for evolution in await database.read(queries.evolutions.records, user):
        yield _record_line("evolution", user_id, evolution)
    last_memory = 0
    while memories := await database.read(
        queries.export_rows.memories, user, last_memory, PAGE, last_turn
    ):
        last_memory = memories[-1][0]
        for _, memory in memories:
            yield _record_line("memory", user_id, memory)
    for summary in await database.read(queries.export_rows.summaries, user):
        yield _record_line("summary", user_id, summary)
    profile = await database.read(queries.users.profile, user, ())
    weights = WeightsRecord(**profile.weights.as_dict(), by_intent=dict(profile.moved))
    yield _record_line("weights", user_id, weights)
    for cell in await database.read(queries.quality.of_user, user, None, None):
        yield _record_line("quality", user_id, cell)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line with a record.

    Attributes:
        number: Line number.
        kind: Type of the record.
        record: Its other fields.
        exported: Whether it is part of an export.
    """

    number: int
    kind: str
    record: dict[str, Any]
    exported: bool


def read_export(path: Path, users: UserMapping = ALL_USERS) -> Iterator[ImportRecord]:
    """Read the records of a file in their order, without decisions and questions.

    Records are validated one by one.

    Args:
        path: The file.
        users: Selection of records.

    Raises:
        InvalidInput: If the file cannot be read, an export is truncated, or a line is invalid; the
            message names the line.
    """
    yield from parse_lines(_lines(path), users)


def check_export(path: Path) -> None:
    """Check the structure of a file, but not the fields of its records.

    Raises:
        InvalidInput: If the file cannot be read, an export is truncated, or a line is not a
            record; the message names the line.
    """
    for _ in _record_lines(_lines(path)):
        pass


def parse_lines(lines: Iterable[str], users: UserMapping = ALL_USERS) -> Iterator[ImportRecord]:
    """Yield the records of lines; see `read_export`."""
    for line in _record_lines(lines):
        number, record = line.number, line.record
        where = f"Line {number}"
        if line.kind == "turn":
            if (user_id := users.target(record.get("user_id"), where)) is not None:
                turn = _turn(record | {"user_id": user_id}, number)
                yield _exported_turn(turn, record, number) if line.exported else turn
        elif (user_id := users.target(record.pop("user_id", None), where)) is not None:
            yield UserRecord(user_id, _validated(line.kind, record, number))


def _record_lines(lines: Iterable[str]) -> Iterator[_Line]:
    """Yield the lines with records, checking that each line is valid and each export complete."""
    export_start: int | None = None
    records = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        record = _record(line, number)
        kind = record.pop("type", None)
        if kind in COUNTED_TYPES:
            records += 1
            yield _Line(number, kind, record, export_start is not None)
        elif kind == "export":
            _check_version(record.get("version"))
            export_start, records = number, 0
        elif kind == "end":
            _check_count(record.get("records"), records, number)
            export_start = None
        elif kind not in SKIPPED_TYPES:
            known = ", ".join(TYPES)
            raise InvalidInput(f"Line {number}: type is {kind!r}. Use one of: {known}.")
    if export_start is not None:
        raise InvalidInput(
            f"The export that starts in line {export_start} has no end line: it is truncated. "
            "Export again; nothing was imported."
        )


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8-sig") as lines:
            yield from lines
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{path} cannot be read ({type(error).__name__}). Pass a JSON Lines file in UTF-8."
        ) from error


def record_type(line: str) -> str:
    """Return the type of a line written by `export_lines`, which is its first field."""
    return line.split('"', 4)[3]


def memory_line(record: UserRecord) -> str:
    """Return a memory as a line of an export, without line end."""
    return _record_line("memory", record.user_id, record.record)


def _check_version(version: object) -> None:
    if version != VERSION:
        raise InvalidInput(
            f"The export has version {version!r}; only version {VERSION} is supported. "
            "Export again with this version of HotMem, or update it."
        )


def _check_count(expected: object, records: int, number: int) -> None:
    if expected != records:
        raise InvalidInput(
            f"Line {number} ends an export of {expected} records, but there are {records}. "
            "Export again; nothing was imported."
        )


def _line(kind: str, record: dict[str, Any]) -> str:
    return json.dumps({"type": kind} | record, ensure_ascii=False)


def _record_line(kind: str, user_id: str, record: object) -> str:
    fields = RECORDS[kind].dump_python(record, mode="json", by_alias=True)
    return _line(kind, {"user_id": user_id} | fields)


def _record(line: str, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise InvalidInput(
            f"Line {number} is not JSON. Export again, or fix the line; nothing was imported."
        ) from error
    if not isinstance(record, dict):
        raise InvalidInput(
            f"Line {number} is not an object. Each line must be one record, such as a turn."
        )
    return record


def _turn(record: dict[str, Any], number: int) -> Turn:
    try:
        spoken_at = datetime.fromisoformat(record["spoken_at"])
        user_id, session_id, role, text = (
            record[name] for name in ("user_id", "session_id", "role", "text")
        )
        if record.get("zone"):
            spoken_at = to_named_zone(spoken_at, record["zone"])
        return Turn(user_id, session_id, role, text, spoken_at, record.get("speaker"), record["id"])
    except KeyError as error:
        raise InvalidInput(
            f"Line {number} has no {error.args[0]}. "
            "A turn has id, user_id, session_id, role, text and spoken_at."
        ) from error
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"Line {number} is invalid: {error}") from error


def _exported_turn(turn: Turn, record: dict[str, Any], number: int) -> ExportedTurn:
    try:
        event_times = EVENT_TIMES.validate_python(record.get("happenings", ()))
        corrections = CORRECTION_COUNT.validate_python(record.get("doubts", 0))
        order_time = ORDER_TIME.validate_python(record.get("told_at"))
    except ValidationError as error:
        raise InvalidInput(f"Line {number} is invalid: {_first_error(error)}") from error
    waiting = bool(record.get("waiting"))
    return ExportedTurn(turn, _names(record, number), event_times, corrections, waiting, order_time)


def _names(record: dict[str, Any], number: int) -> tuple[str, ...]:
    names = record.get("entities", ())
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise InvalidInput(f"Line {number} is invalid: entities is not a list of names.")
    return tuple(names)


def _validated(kind: str, record: dict[str, Any], number: int) -> Any:  # noqa: ANN401
    try:
        return RECORDS[kind].validate_python(record)
    except ValidationError as error:
        raise InvalidInput(f"Line {number} is invalid: {_first_error(error)}") from error


def _first_error(error: ValidationError) -> str:
    """Describe the first error with its field."""
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}."
