"""`hotmem eval` on a real file: replay, table, report, and recordings that cannot be used."""

import asyncio
import hashlib
import re
import sys
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import Result

from hotmem import Memory
from hotmem.errors import HotMemError, InvalidInput
from hotmem.models import CachedEncoder, Language
from hotmem.replay.comparison import sample_exchanges
from hotmem.replay.recording import read_recording
from hotmem.replay.replaying import replay, total_steps
from hotmem.replay.settings import Setting, settings
from hotmem.storage.sqlite.connection import connect
from hotmem.types import START_WEIGHTS, Role, Turn
from tests.commands import run
from tests.conversation import OpenMemory, said

TOLD = (
    ("My dog is called Potola.", "Potola is a pretty name!"),
    ("My sister Marta plays the cello in Porto.", "How lovely."),
    ("The gate code of the cottage is 4711.", "I will keep that in mind."),
    ("I am allergic to walnuts and shellfish.", "Good to know."),
)
ASKED = (
    ("What is my dog called?", "Your dog is called Potola."),
    ("Who plays the cello?", "Your sister Marta does, in Porto."),
    ("What is the gate code of my cottage?", "It is 4711."),
    ("What am I allergic to?", "You are allergic to walnuts and shellfish."),
)
DAY = 24 * 60


def talk(session: str, pairs: Iterable[tuple[str, str]], day: int) -> list[Turn]:
    """Return a session of questions and replies; empty replies are left out."""
    turns = []
    for number, (text, reply) in enumerate(pairs):
        minutes = day * DAY + number
        turns.append(said(text, session=session, minutes=minutes, name=f"{session}-{number}"))
        if reply:
            turns.append(
                said(
                    reply,
                    session=session,
                    role=Role.ASSISTANT,
                    speaker="Bot",
                    minutes=minutes + 0.5,
                    name=f"{session}-{number}-reply",
                )
            )
    return turns


LIFE = (
    *talk("first", TOLD, 0),
    *talk("second", (*ASKED, ("Thank you!", "You are welcome.")), 7),
    *talk("third", ASKED[::-1], 14),
)


pytestmark = pytest.mark.usefixtures("command_line")


async def stored(
    path: Path, turns: Iterable[Turn], encoder: CachedEncoder, language: Language
) -> Path:
    """Create a file with these turns."""
    async with Memory.open(path, encoder=encoder, language=language) as memory:
        for turn in turns:
            await memory.remember(turn)
    return path


@pytest.fixture
def recorded(database: Path, encoder: CachedEncoder, language: Language) -> Path:
    """A file with three sessions."""
    return asyncio.run(stored(database, LIFE, encoder, language))


def evaluated(*words: str | Path) -> Result:
    """Run `hotmem eval` for Ana."""
    return run("eval", "-u", "ana", *words)


def test_settings_are_compared_without_changing_the_file(recorded: Path, tmp_path: Path) -> None:
    before = hashlib.sha256(recorded.read_bytes()).hexdigest()
    page = tmp_path / "report.html"
    settings = ("-s", "HOTMEM_MAX_CONTEXT_TOKENS=1", "-s", "weights=1.5,0.1,0.1,0.1")
    outcome = evaluated("-d", recorded, *settings, "--report", page)
    assert outcome.exit_code == 0, outcome.output
    assert hashlib.sha256(recorded.read_bytes()).hexdigest() == before
    assert (
        "8 questions from 2 sessions" in outcome.output
        and "at least 30 questions" in outcome.output
    )
    lines = outcome.output.splitlines()
    place = next(place for place, line in enumerate(lines) if "MAX_CONTEXT_TOKENS=1" in line)
    assert " 0% " in lines[place] and "no clear difference" in lines[place + 1]
    html = page.read_text("utf-8")
    assert (
        "Too little to judge." in html and "no clear difference" in html and html.count("<svg") == 3
    )
    assert not re.search(r"(?:src|href)\s*=\s*[\"'](?!#)|@import|url\((?!#)", html), (
        "nothing is loaded"
    )
    assert not any(word in html for word in ("Potola", "Marta", "4711", "walnuts")), (
        "nothing that was said"
    )
    again = evaluated("-d", recorded, "--report", page)
    assert isinstance(again.exception, InvalidInput) and "--overwrite" in str(again.exception)


def test_later_turns_are_not_available(
    recorded: Path, language: Language, encoder: CachedEncoder
) -> None:
    asked_first = (*talk("early", ASKED, 0), *talk("told", TOLD, 7), *talk("late", ASKED, 14))
    recorded.unlink()
    asyncio.run(
        stored(
            recorded,
            (*talk("hello", [("Hello, it is me, Ana.", "Hello Ana!")], -7), *asked_first),
            encoder,
            language,
        )
    )
    recording = read_recording(recorded, "ana", 1000)
    exchanges = sample_exchanges(recording, language, 100)
    present: list[Setting] = settings(["HOTMEM_MAX_CONTEXT_TOKENS=500"], START_WEIGHTS)
    steps: list[None] = []
    rows = asyncio.run(replay(recording, exchanges, present, language, lambda: steps.append(None)))
    assert len(steps) == total_steps(recording, exchanges, present)
    early = [one for row in rows for one in row if one.session == 1]
    late = [one for row in rows for one in row if one.session == 3]
    assert len(early) == len(late) == 8
    assert all(one.found == 0 for one in early)
    assert sum(one.found for one in late) >= 6


def test_samples_are_reproducible(recorded: Path, language: Language) -> None:
    recording = read_recording(recorded, "ana", 1000)
    assert len(list(recording.exchanges())) == 9, (
        "those of the first session have nothing to recall"
    )
    part = sample_exchanges(recording, language, 3)
    assert part == sample_exchanges(recording, language, 3) and len(part) == 3
    assert len(sample_exchanges(recording, language, 100)) == 8, "thanks need no memory"


def test_statements_are_not_sampled(recorded: Path, language: Language) -> None:
    recording = read_recording(recorded, "ana", 1000)
    statement = said("I bought a red bicycle in Leeds.", session="fourth", minutes=30 * DAY)
    reply = replace(statement, role=Role.ASSISTANT, text="A red bicycle, how nice!", id="reply")
    told = replace(recording, sessions=(*recording.sessions, (statement, reply)))
    assert len(list(told.exchanges())) == 10
    assert len(sample_exchanges(told, language, 100)) == 8


def test_only_the_latest_turns_are_read(recorded: Path) -> None:
    recording = read_recording(recorded, "ana", 10)
    assert (recording.turns, recording.left_out) == (10, len(LIFE) - 10)
    assert recording.sessions[-1][-1].text == ASKED[0][1]


def test_a_clock_that_jumps_does_not_reorder_a_session(
    database: Path, encoder: CachedEncoder, language: Language
) -> None:
    turns = talk("second", ASKED, 7)
    jumped = [
        replace(turn, spoken_at=turn.spoken_at - timedelta(days=20_000 * (place > 2)))
        for place, turn in enumerate(turns)
    ]
    asyncio.run(stored(database, (*talk("first", TOLD, 0), *jumped), encoder, language))
    recording = read_recording(database, "ana", 1000)
    assert [exchange.reply for exchange in recording.exchanges()] == [reply for _, reply in ASKED]
    assert evaluated("-d", database).exit_code == 0


REPLIES = [
    "Potola.",
    "word " * 5_000 + "Potola",
    "Sie heißt doch Potola, oder etwa nicht?",
    "？",
    "Potola \ud800\x00 …",
]


def test_replies_of_any_kind_are_scored(
    database: Path, encoder: CachedEncoder, language: Language
) -> None:
    asked = talk("second", [("What is my dog called?", reply) for reply in (*REPLIES, "")], 7)
    asyncio.run(stored(database, (*talk("first", TOLD, 0), *asked), encoder, language))
    outcome = evaluated("-d", database, "-s", "HOTMEM_MAX_CONTEXT_TOKENS=300")
    assert outcome.exit_code == 0, outcome.output
    assert f"{len(REPLIES)} questions" in outcome.output


def test_a_file_is_read_while_a_bot_writes_to_it(recorded: Path, open_memory: OpenMemory) -> None:
    async def both() -> int:
        async with open_memory(recorded) as memory:
            reading = asyncio.create_task(asyncio.to_thread(read_recording, recorded, "ana", 1000))
            for number in range(20):
                await memory.remember(
                    said(f"I saw heron number {number}.", session="now", minutes=30 * DAY + number)
                )
            return (await reading).turns

    assert len(LIFE) <= asyncio.run(both()) <= len(LIFE) + 20


@pytest.mark.parametrize(
    ("turns", "told"),
    [
        ((), "No turn of 'ana' is stored"),
        ([turn for turn in LIFE if turn.role is Role.USER], "No reply of a bot is stored"),
        (talk("first", TOLD, 0), "Only one session"),
        (
            [*talk("first", TOLD, 0), *talk("second", [("What is my dog called?", "")], 7)],
            "No user turn after the first session",
        ),
        (
            [*talk("first", TOLD, 0), *talk("second", [("Thank you!", "You are welcome.")], 7)],
            "needs memory",
        ),
    ],
)
def test_missing_data_is_reported(
    turns: Iterable[Turn], told: str, database: Path, encoder: CachedEncoder, language: Language
) -> None:
    asyncio.run(stored(database, turns, encoder, language))
    outcome = evaluated("-d", database)
    assert outcome.exit_code == 1 and isinstance(outcome.exception, InvalidInput)
    assert told in str(outcome.exception)


def test_an_unusable_or_newer_file_is_refused(recorded: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("a shopping list\n" * 200)
    with closing(connect(recorded)) as conn:
        conn.execute("PRAGMA user_version = 999")
    (tmp_path / "empty.db").touch()
    for name, told in (
        ("notes.txt", "not a database"),
        (recorded.name, "Update HotMem"),
        ("empty.db", "No turn of 'ana'"),
        ("gone.db", "not found"),
    ):
        outcome = evaluated("-d", tmp_path / name)
        assert isinstance(outcome.exception, HotMemError) and told in str(outcome.exception)


def test_a_comparison_without_settings_is_refused(recorded: Path) -> None:
    outcome = evaluated("-d", recorded, "-s", "HOTMEM_MAX_CONTEXT_TOKENS=1000")
    assert isinstance(outcome.exception, InvalidInput) and "equal the present ones" in str(
        outcome.exception
    )


def test_problems_of_the_report_are_found_before_the_replay(
    recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = evaluated("-d", recorded, "--report", tmp_path / "no" / "folder.html")
    assert isinstance(outcome.exception, InvalidInput) and "does not exist" in str(
        outcome.exception
    )
    monkeypatch.delitem(sys.modules, "hotmem.replay.report", raising=False)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    outcome = evaluated("-d", recorded, "--report", tmp_path / "report.html")
    assert isinstance(outcome.exception, InvalidInput) and "pipecat-hotmem[report]" in str(
        outcome.exception
    )
