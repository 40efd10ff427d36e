"""A memory as JSON Lines.

Everything that is known of one user, one record a line, for keeping, moving and evaluating.

    {"type": "export", "version": 2, "user_id": …}
    {"type": "turn", "id": …, "user_id": …, "session_id": …, "role": …, "speaker": …, "text": …,
    "spoken_at": ISO 8601, "zone": …,
     "entities": [names], "happenings": [see hotmem.types.EventTime], "doubts": how often it was
     corrected, "waiting": whether it was not understood yet}
    {"type": "evolution", "user_id": …, and the fields of hotmem.types.EvolutionRecord}
    {"type": "memory", "user_id": …, and the fields of hotmem.types.MemoryRecord}
    {"type": "summary", "user_id": …, and the fields of hotmem.types.SummaryRecord}
    {"type": "weights", "user_id": …, "facts": …, "sessions": …, "semantic": …, "verbatim": …}
    {"type": "quality", "user_id": …, and the fields of hotmem.types.QualityRecord}
    {"type": "decision", "user_id": …, and the fields of hotmem.types.Decision}
    {"type": "question", "id": …, "user_id": …, "text": …, "asked_at": ISO 8601, "evidence": [turn
    ids], "answer": ""} {"type": "end", "user_id": …, "records": how many lines there are of
    records, turns among them}

Imported, an export answers as before: nothing is understood anew, vectors follow from the words.
Tags that nothing is filed under stay behind, and subcategories that others have taken the place of.
Decisions, from the latest to the first and without imports, can be read, and an import passes them
over: what they decided comes with the memories, and cannot be taken back elsewhere. A file of turns
alone, without the first line, is understood as if it were said now. Questions are those whose
answer used remembered turns; an import passes them over too, and `python -m eval run hotmem FILE`
measures a memory by them. An export without its last line is half of one, and is refused before
anything of it is taken.
"""

import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError

from hotmem.errors import InvalidInput
from hotmem.portability.user_mapping import EVERYONE, UserMapping
from hotmem.storage import Storage, queries
from hotmem.storage.queries.decisions import IMPORTED
from hotmem.storage.queries.times import from_stored
from hotmem.text.timezones import to_named_zone, zone_name
from hotmem.types import (
    Decision,
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
    Weights,
)

VERSION: Final = 2

PAGE: Final = 1000
"""Records read at once."""

RECORDS: Final[Mapping[str, TypeAdapter[Any]]] = {
    "evolution": TypeAdapter(EvolutionRecord),
    "memory": TypeAdapter(MemoryRecord),
    "summary": TypeAdapter(SummaryRecord),
    "weights": TypeAdapter(Weights),
    "quality": TypeAdapter(QualityRecord),
}

RECORDED: Final = ("turn", *RECORDS)
"""Lines that the last one counts."""

PASSED_OVER: Final = ("decision", "question")
"""Lines that are there to be read."""

TYPES: Final = ("export", *RECORDED, *PASSED_OVER, "end")
"""Every line's type."""

EVERY: Final = -1
"""A limit that leaves none out."""

HAPPENINGS: Final = TypeAdapter(tuple[EventTime, ...])
DECISION: Final = TypeAdapter(Decision)
DOUBTS: Final = TypeAdapter(Annotated[int, Field(ge=0)])
PLACE: Final = TypeAdapter[AwareDatetime | None](AwareDatetime | None)


async def exported(storage: Storage, user: UserKey, user_id: str) -> AsyncIterator[str]:
    """The lines of everything that is known of a user, without line ends."""
    yield _line("export", {"version": VERSION, "user_id": user_id})
    records = 0
    async for line in _records(storage, user, user_id):
        records += 1
        yield line
    for decision in await storage.database.read(queries.decisions.of_user, user, EVERY):
        if decision.action != IMPORTED:
            yield _line(
                "decision", {"user_id": user_id} | DECISION.dump_python(decision, mode="json")
            )
    for name, query, asked_at, evidence in await storage.database.read(
        queries.usage.recorded, user
    ):
        asked = {
            "id": name,
            "user_id": user_id,
            "text": query,
            "asked_at": from_stored(asked_at).isoformat(),
        }
        yield _line("question", asked | {"evidence": evidence, "answer": ""})
    yield _line("end", {"user_id": user_id, "records": records})


async def _records(storage: Storage, user: UserKey, user_id: str) -> AsyncIterator[str]:
    after = 0
    while page := await storage.database.read(queries.turns.of_user, user, after, PAGE):
        after = page[-1][0]
        keys = [key for key, _ in page]
        entities, happenings = (
            await storage.database.read(queries.export_rows.entities_of, user, keys),
            await storage.database.read(queries.event_times.of_turns, keys),
        )
        doubts, waiting, places = (
            await storage.database.read(queries.export_rows.doubts_of, keys),
            await storage.database.read(queries.export_rows.waiting_among, keys),
            await storage.database.read(queries.turns.places, keys),
        )
        for key, turn in page:
            said = {
                "id": turn.id,
                "user_id": user_id,
                "session_id": turn.session_id,
                "role": turn.role,
                "speaker": turn.speaker,
                "text": turn.text,
            }
            when = {"spoken_at": turn.spoken_at.isoformat(), "zone": zone_name(turn.spoken_at)}
            read = {
                "entities": entities.get(key, ()),
                "happenings": HAPPENINGS.dump_python(happenings.get(key, ()), mode="json"),
            }
            if key in places:
                when["told_at"] = places[key].isoformat()
            yield _line(
                "turn",
                said | when | read | {"doubts": doubts.get(key, 0), "waiting": key in waiting},
            )
    for evolution in await storage.database.read(queries.subcategories.records, user):
        yield _line(
            "evolution",
            {"user_id": user_id} | RECORDS["evolution"].dump_python(evolution, mode="json"),
        )
    last, after = after, 0
    while known := await storage.database.read(
        queries.export_rows.memories, user, after, PAGE, last
    ):
        after = known[-1][0]
        for _, record in known:
            yield written(UserRecord(user_id, record))
    for summary in await storage.database.read(queries.export_rows.summaries, user):
        yield _line(
            "summary", {"user_id": user_id} | RECORDS["summary"].dump_python(summary, mode="json")
        )
    yield _line(
        "weights",
        {"user_id": user_id}
        | RECORDS["weights"].dump_python(
            (await storage.database.read(queries.users.profile, user, ())).weights, mode="json"
        ),
    )
    for cell in await storage.database.read(queries.quality.of_user, user, None, None):
        yield _line(
            "quality", {"user_id": user_id} | RECORDS["quality"].dump_python(cell, mode="json")
        )


class _Line(NamedTuple):
    """A line that holds a record.

    Its number, its type, what else it holds, and whether an export began before it.
    """

    number: int
    kind: str
    record: dict[str, Any]
    exported: bool


def imported(path: Path, whose: UserMapping = EVERYONE) -> Iterator[ImportRecord]:
    """The records of a file, in its order, without decisions and questions.

    Each is checked when it is its turn.

    Args:
        path: The file.
        whose: Whose records are taken.

    Raises:
        InvalidInput: If the file cannot be read, is half of an export, or naming the line that is
            not of the form above.
    """
    yield from parsed(_lines(path), whose)


def check(path: Path) -> None:
    """Reads a file through, without what is in its records.

    Raises:
        InvalidInput: If it cannot be read, is half of an export, or naming the line that is no
            record.
    """
    for _ in _outlined(_lines(path)):
        pass


def parsed(lines: Iterable[str], whose: UserMapping = EVERYONE) -> Iterator[ImportRecord]:
    """The records of lines that are read already."""
    for number, kind, record, exported in _outlined(lines):
        where = f"Line {number}"
        if kind == "turn":
            if (user_id := whose.taken(record.get("user_id"), where)) is not None:
                turn = _turn(record | {"user_id": user_id}, number)
                yield _read_turn(turn, record, number) if exported else turn
        elif (user_id := whose.taken(record.pop("user_id", None), where)) is not None:
            yield UserRecord(user_id, _known(kind, record, number))


def _outlined(lines: Iterable[str]) -> Iterator[_Line]:
    """The lines that hold records.

    Whether each line is one, and an export whole, is checked on the way.
    """
    began: int | None = None
    records = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        record = _record(line, number)
        kind = record.pop("type", None)
        if kind in RECORDED:
            records += 1
            yield _Line(number, kind, record, began is not None)
        elif kind == "export":
            _check_version(record.get("version"))
            began, records = number, 0
        elif kind == "end":
            _check_number(record.get("records"), records, number)
            began = None
        elif kind not in PASSED_OVER:
            raise InvalidInput(f"Line {number}: type is {kind!r}. Known are {', '.join(TYPES)}.")
    if began is not None:
        raise InvalidInput(
            f"The export that begins in line {began} has no last line: it is half of one. Export again; nothing was imported."
        )


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8-sig") as lines:
            yield from lines
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{path} cannot be read ({type(error).__name__}). Pass a JSON Lines file in UTF-8."
        ) from error


def kind_of(line: str) -> str:
    """The type of a line that `exported` wrote; it stands first."""
    return line.split('"', 4)[3]


def written(record: UserRecord) -> str:
    """A memory as a line, without line end.

    Args:
        record: The memory, and whose it is.
    """
    return _line(
        "memory",
        {"user_id": record.user_id} | RECORDS["memory"].dump_python(record.record, mode="json"),
    )


def _check_version(version: object) -> None:
    if version != VERSION:
        raise InvalidInput(
            f"This is an export of version {version!r}, and version {VERSION} is known. Export again with this HotMem, or update it."
        )


def _check_number(told: object, records: int, number: int) -> None:
    if told != records:
        raise InvalidInput(
            f"Line {number} ends an export of {told} records, and {records} are there. Export again; nothing was imported."
        )


def _line(kind: str, record: dict[str, Any]) -> str:
    return json.dumps({"type": kind} | record, ensure_ascii=False)


def _record(line: str, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise InvalidInput(
            f"Line {number} is not JSON. Export again, or mend the line; nothing was imported."
        ) from error
    if not isinstance(record, dict):
        raise InvalidInput(
            f"Line {number} is not an object. Each line holds one record, such as a turn."
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
            f"Line {number} has no {error.args[0]}. A turn has id, user_id, session_id, role, text and spoken_at."
        ) from error
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"Line {number} cannot be used: {error}") from error


def _read_turn(turn: Turn, record: dict[str, Any], number: int) -> ExportedTurn:
    try:
        happenings = HAPPENINGS.validate_python(record.get("happenings", ()))
        doubts = DOUBTS.validate_python(record.get("doubts", 0))
        told_at = PLACE.validate_python(record.get("told_at"))
    except ValidationError as error:
        raise InvalidInput(f"Line {number} cannot be used: {_first(error)}") from error
    return ExportedTurn(
        turn, _names(record, number), happenings, doubts, bool(record.get("waiting")), told_at
    )


def _names(record: dict[str, Any], number: int) -> tuple[str, ...]:
    names = record.get("entities", ())
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise InvalidInput(f"Line {number} cannot be used: entities is no list of names.")
    return tuple(names)


def _known(kind: str, record: dict[str, Any], number: int) -> Any:  # noqa: ANN401 - one of five classes, by the kind
    try:
        return RECORDS[kind].validate_python(record)
    except ValidationError as error:
        raise InvalidInput(f"Line {number} cannot be used: {_first(error)}") from error


def _first(error: ValidationError) -> str:
    """The first thing that is wrong, with where."""
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}."
