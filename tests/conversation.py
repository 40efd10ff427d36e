"""Test conversations: single turns, and a history of 150 turns."""

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from pathlib import Path
from typing import Any, TypeVar

from hotmem import Memory
from hotmem.models import Language
from hotmem.storage import queries
from hotmem.storage.database import Database
from hotmem.tools.maintenance import (
    DecisionsArguments,
    UndoArguments,
    memory_decisions,
    undo_decision,
)
from hotmem.types import Decision, DecisionAction, Role, Turn, Understanding, UserKey
from hotmem.types.memories import UndoResult
from hotmem.understanding.facts import extract_facts
from tests.tables import tables

_LINES = tables(__file__)

AnyDatabase = TypeVar("AnyDatabase", bound=Database)

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
"""Time of the first turn; a Monday."""

HOSTILE: tuple[str, ...] = tuple(_LINES["hostile"])


def said(
    text: str,
    *,
    user: str = "ana",
    session: str = "monday",
    role: Role | str = Role.USER,
    speaker: str | None = "Ana",
    minutes: float = 0.0,
    name: str | None = None,
) -> Turn:
    """Return a turn, `minutes` after `START`; with a random id unless a name is given."""
    turn = Turn(user, session, role, text, START + timedelta(minutes=minutes), speaker)
    return turn if name is None else Turn(user, session, role, text, turn.spoken_at, speaker, name)


def turn_record(
    text: str,
    name: str,
    *,
    user: str = "ana",
    session: str = "s",
    speaker: str = "Ana",
    at: datetime = START,
) -> dict[str, Any]:
    """A user turn as a line of an export has it."""
    return {
        "type": "turn",
        "id": name,
        "user_id": user,
        "session_id": session,
        "role": "user",
        "speaker": speaker,
        "text": text,
        "spoken_at": at.isoformat(),
    }


def question_record(
    text: str,
    name: str,
    evidence: Sequence[str],
    answer: str = "",
    *,
    user: str = "ana",
    at: datetime = START,
) -> dict[str, Any]:
    """A question of an evaluation, beside the turns; without evidence nothing answers it."""
    return {
        "type": "question",
        "id": name,
        "user_id": user,
        "text": text,
        "asked_at": at.isoformat(),
        "evidence": evidence,
        "answer": answer,
        "abstain": not evidence,
    }


def write_records(file: Path, records: Iterable[Mapping[str, Any]]) -> Path:
    """Write a line of JSON for each record; return the file."""
    file.write_text("".join(f"{json.dumps(record)}\n" for record in records), "utf-8")
    return file


OpenMemory = Callable[..., Memory]
"""Opens a memory at a location with options, with the models of the tests."""


def file_of(memory: Memory) -> Path:
    """The file of a memory."""
    assert isinstance(memory.runtime.location, Path)
    return memory.runtime.location


async def remember(memory: Memory, *turns: Turn | str, end: str | None = None) -> None:
    """Remember turns, and wait until they are understood.

    Args:
        memory: An open memory.
        turns: The turns in their order; a text is one of Ana at `START`.
        end: A session of Ana to end after them, if any.
    """
    for turn in turns:
        await memory.remember(said(turn) if isinstance(turn, str) else turn)
    if end is not None:
        await memory.end_session(user_id="ana", session_id=end)
    await memory.settle()


def read_facts(
    language: Language, text: str, speaker: str | None = "Ana", at: datetime = START
) -> Understanding:
    """Read the facts of a user turn."""
    return extract_facts(
        language.parse([text])[0], lambda said: language.parse([said])[0], speaker, Role.USER, at
    )


def stands_in(quote: str, words: str) -> bool:
    """Whether the parts of a quote between its ellipses occur in the words, in order.

    White space is normalised.
    """
    place = 0
    left = " ".join(words.split())
    for part in quote.split("…"):
        part = " ".join(part.split())
        place = left.find(part, place)
        if place < 0:
            return False
        place += len(part)
    return True


def life(user: str = "ana", turns: int = 150, per_session: int = 15) -> Iterator[Turn]:
    """Yield turns of many sessions, a week apart.

    They are statements about friends, replies of the bot, hostile lines and one long turn.
    """
    people, places, deeds, replies, hostile = map(
        cycle, (_LINES[name] for name in ("people", "places", "deeds", "replies", "hostile"))
    )
    statements = islice(zip(people, places, deeds, strict=False), turns + 30)
    for number, (name, place, deed) in enumerate(islice(statements, turns)):
        session, minute = divmod(number, per_session)
        text = f"My friend {name} {deed.format(place=place)}"
        role, speaker = Role.USER, "Ana"
        if number % 3 == 2:
            role, speaker, text = (
                Role.ASSISTANT,
                "Bot",
                next(replies).format(name=name, place=place),
            )
        if number % 20 == 10:
            role, speaker, text = Role.USER, "Ana", next(hostile)
        if number == 40:
            text = " ".join(
                f"My friend {who} {what.format(place=where)}"
                for who, where, what in islice(statements, 30)
            )
        minutes = session * 7 * 24 * 60 + minute
        yield said(
            text,
            user=user,
            session=f"week {session}",
            role=role,
            speaker=speaker,
            minutes=minutes,
            name=f"{user}-{number}",
        )


@asynccontextmanager
async def closed(database: AnyDatabase) -> AsyncIterator[AnyDatabase]:
    """Close an open database in the end."""
    try:
        yield database
    finally:
        await database.close()


async def store_turns(database: Database, *turns: Turn, now: datetime = START) -> None:
    """Store turns in a database, without understanding them."""
    for turn in turns:
        await database.write_all(queries.turns.add, turn, now)


def models(memory: Memory) -> dict[str, Any]:
    """The encoder and parser of an open memory, as arguments to open another."""
    opened = memory.runtime.recall
    return {"encoder": opened.encoder, "language": opened.language}


async def user_of(database: Database, name: str = "ana") -> UserKey:
    """The row number of a user, who must be there."""
    user = await database.read_all(queries.users.find, name)
    assert user is not None
    return user


async def decisions(memory: Memory, *actions: DecisionAction) -> list[Decision]:
    """Ana's decisions of some kinds, of all unless named; the latest first."""
    asked = DecisionsArguments(actions=actions, limit=1000)
    return list((await memory_decisions(memory, "ana", asked)).decisions)


async def undo(memory: Memory, decision: str, user: str = "ana") -> UndoResult:
    """Undo a decision, by its id."""
    return await undo_decision(memory, user, UndoArguments(decision=decision))


async def turns_told(memory: Memory, user: str = "ana") -> list[str]:
    """Return the text of a user's turns, in the order they were stored."""
    records = [json.loads(line) async for line in memory.export(user)]
    return [record["text"] for record in records if record["type"] == "turn"]
