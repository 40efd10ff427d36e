"""Sessions as JSON Lines: one turn a line, and one line for each question whose answer used remembered turns.

    {"type": "turn", "id": …, "user_id": …, "session_id": …, "role": …, "speaker": …, "text": …, "spoken_at": ISO 8601}
    {"type": "question", "id": …, "user_id": …, "text": …, "asked_at": ISO 8601, "evidence": [turn ids], "answer": ""}

`python -m eval run hotmem FILE` measures a memory on its own sessions: the evidence is what the replies used.
"""

import json
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from hotmem.errors import InvalidInput
from hotmem.store.store import Store
from hotmem.store.times import from_stored
from hotmem.types import Turn, UserKey


async def exported(store: Store, user: UserKey, user_id: str) -> AsyncIterator[str]:
    """The lines of a user's turns and questions, without line ends."""
    after = 0
    while page := await store.user_turns(user, after):
        after = page[-1][0]
        for _, turn in page:
            said = {"id": turn.id, "user_id": user_id, "session_id": turn.session_id, "role": turn.role, "speaker": turn.speaker, "text": turn.text}
            yield _line("turn", said | {"spoken_at": turn.spoken_at.isoformat()})
    for name, query, asked_at, evidence in await store.recorded_usage(user):
        record: dict[str, Any] = {
            "id": name,
            "user_id": user_id,
            "text": query,
            "asked_at": from_stored(asked_at).isoformat(),
            "evidence": evidence,
            "answer": "",
        }
        yield _line("question", record)


def imported(path: Path) -> Iterator[Turn]:
    """The turns of a file, in its order.

    Raises:
        InvalidInput: If the file cannot be read, or naming the line that is not of this form.
    """
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip() and (record := _record(line, number)).get("type") == "turn":
                    yield _turn(record, number)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read ({type(error).__name__}). Pass a JSON Lines file in UTF-8.") from error


def _line(kind: str, record: dict[str, Any]) -> str:
    return json.dumps({"type": kind} | record, ensure_ascii=False)


def _record(line: str, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise InvalidInput(f"Line {number} is not JSON. Export again, or mend the line; nothing after it was read.") from error
    if not isinstance(record, dict):
        raise InvalidInput(f"Line {number} is not an object. Each line holds one turn or one question.")
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
