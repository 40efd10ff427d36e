"""A memory as JSON Lines: everything that is known of one user, one record a line, for keeping, moving and evaluating.

    {"type": "export", "version": 1, "user_id": …}
    {"type": "turn", "id": …, "user_id": …, "session_id": …, "role": …, "speaker": …, "text": …, "spoken_at": ISO 8601,
     "entities": [names], "waiting": whether it was not understood yet}
    {"type": "memory", "user_id": …, and the fields of hotmem.types.MemoryRecord}
    {"type": "summary", "user_id": …, and the fields of hotmem.types.SummaryRecord}
    {"type": "weights", "user_id": …, "facts": …, "sessions": …, "semantic": …, "verbatim": …}
    {"type": "quality", "user_id": …, and the fields of hotmem.types.QualityRecord}
    {"type": "question", "id": …, "user_id": …, "text": …, "asked_at": ISO 8601, "evidence": [turn ids], "answer": ""}

Imported, an export answers as before: nothing is understood anew, vectors follow from the words. The record of decisions stays behind, and
tags that nothing is filed under. A file of turns alone, without the first line, is understood as if it were said now. Questions are those
whose answer used remembered turns; an import passes them over, and `python -m eval run hotmem FILE` measures a memory by them.
"""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from hotmem.errors import InvalidInput
from hotmem.store.store import Store
from hotmem.store.times import from_stored
from hotmem.types import ExportedTurn, Imported, MemoryRecord, Of, QualityRecord, SummaryRecord, Turn, UserKey, Weights

VERSION: Final = 1

PAGE: Final = 1000
"""Records read at once."""

RECORDS: Final[Mapping[str, TypeAdapter[Any]]] = {
    "memory": TypeAdapter(MemoryRecord),
    "summary": TypeAdapter(SummaryRecord),
    "weights": TypeAdapter(Weights),
    "quality": TypeAdapter(QualityRecord),
}


async def exported(store: Store, user: UserKey, user_id: str) -> AsyncIterator[str]:
    """The lines of everything that is known of a user, without line ends."""
    yield _line("export", {"version": VERSION, "user_id": user_id})
    after = 0
    while page := await store.user_turns(user, after, PAGE):
        after = page[-1][0]
        keys = [key for key, _ in page]
        entities, waiting = await store.turn_entities(user, keys), await store.waiting_among(keys)
        for key, turn in page:
            said = {"id": turn.id, "user_id": user_id, "session_id": turn.session_id, "role": turn.role, "speaker": turn.speaker, "text": turn.text}
            yield _line("turn", said | {"spoken_at": turn.spoken_at.isoformat(), "entities": entities.get(key, ()), "waiting": key in waiting})
    last, after = after, 0
    while known := await store.memory_records(user, after, PAGE, last):
        after = known[-1][0]
        for _, record in known:
            yield _line("memory", {"user_id": user_id} | RECORDS["memory"].dump_python(record, mode="json"))
    for summary in await store.summary_records(user):
        yield _line("summary", {"user_id": user_id} | RECORDS["summary"].dump_python(summary, mode="json"))
    yield _line("weights", {"user_id": user_id} | RECORDS["weights"].dump_python((await store.profile(user, ())).weights, mode="json"))
    for cell in await store.quality(user):
        yield _line("quality", {"user_id": user_id} | RECORDS["quality"].dump_python(cell, mode="json"))
    for name, query, asked_at, evidence in await store.recorded_usage(user):
        asked = {"id": name, "user_id": user_id, "text": query, "asked_at": from_stored(asked_at).isoformat()}
        yield _line("question", asked | {"evidence": evidence, "answer": ""})


def imported(path: Path) -> Iterator[Imported]:
    """The records of a file, in its order, without the questions; each is checked when it is its turn.

    Raises:
        InvalidInput: If the file cannot be read, or naming the line that is not of the form above.
    """
    whole = False
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                record = _record(line, number)
                match record.pop("type", None):
                    case "export":
                        whole = _checked_version(record.get("version"))
                    case "turn":
                        turn = _turn(record, number)
                        yield ExportedTurn(turn, tuple(record.get("entities", ())), bool(record.get("waiting"))) if whole else turn
                    case "memory" | "summary" | "weights" | "quality" as kind:
                        yield _of(kind, record, number)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read ({type(error).__name__}). Pass a JSON Lines file in UTF-8.") from error


def _checked_version(version: object) -> bool:
    if version != VERSION:
        raise InvalidInput(f"This is an export of version {version!r}, and version {VERSION} is known. Update HotMem: pip install -U pipecat-hotmem.")
    return True


def _line(kind: str, record: dict[str, Any]) -> str:
    return json.dumps({"type": kind} | record, ensure_ascii=False)


def _record(line: str, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise InvalidInput(f"Line {number} is not JSON. Export again, or mend the line; nothing was imported.") from error
    if not isinstance(record, dict):
        raise InvalidInput(f"Line {number} is not an object. Each line holds one record, such as a turn.")
    return record


def _turn(record: dict[str, Any], number: int) -> Turn:
    try:
        spoken_at = datetime.fromisoformat(record["spoken_at"])
        user_id, session_id, role, text = (record[name] for name in ("user_id", "session_id", "role", "text"))
        return Turn(user_id, session_id, role, text, spoken_at, record.get("speaker"), record["id"])
    except KeyError as error:
        raise InvalidInput(f"Line {number} has no {error.args[0]}. A turn has id, user_id, session_id, role, text and spoken_at.") from error
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"Line {number} cannot be used: {error}") from error


def _of(kind: str, record: dict[str, Any], number: int) -> Of:
    user_id = record.pop("user_id", None)
    if not isinstance(user_id, str) or not user_id:
        raise InvalidInput(f"Line {number} has no user_id. Every record says whose it is.")
    try:
        return Of(user_id, RECORDS[kind].validate_python(record))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InvalidInput(f"Line {number} cannot be used: {where}: {first['msg']}.") from error
