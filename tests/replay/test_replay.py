"""`hotmem eval` on a real file.

What is replayed and what is not, the table and the page, and recordings that are hard to use.
"""

import asyncio
import hashlib
import re
import sys
from collections.abc import Iterable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from hotmem import Memory
from hotmem.cli import app, console
from hotmem.errors import HotMemError, InvalidInput
from hotmem.models import CachedEncoder, Language
from hotmem.options import ModelOptions
from hotmem.replay.recording import read_recording
from hotmem.replay.replaying import replayed, work
from hotmem.replay.sampling import sampled
from hotmem.replay.settings import Setting, settings
from hotmem.settings import Settings
from hotmem.storage.sqlite.connection import connect
from hotmem.types import START_WEIGHTS, Role, Turn
from tests.conversation import said

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
    """A session of questions and replies; an empty reply was never spoken."""
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


@pytest.fixture(autouse=True)
def surroundings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, model_options: ModelOptions
) -> None:
    """The tests' prepared models, a wide screen, and a folder without settings of anyone's."""
    for name in Settings.model_fields:
        monkeypatch.delenv(f"HOTMEM_{name.upper()}", raising=False)
    monkeypatch.setenv("HOTMEM_CACHE_DIR", str(model_options.cache_dir))
    monkeypatch.setattr(console, "screen", console.make_console(width=200))
    monkeypatch.chdir(tmp_path)


async def stored(
    path: Path, turns: Iterable[Turn], encoder: CachedEncoder, language: Language
) -> Path:
    """A file in which these turns were remembered."""
    async with Memory.open(path, encoder=encoder, language=language) as memory:
        for turn in turns:
            await memory.remember(turn)
    return path


@pytest.fixture
def lived(database: Path, encoder: CachedEncoder, language: Language) -> Path:
    """A file that holds three conversations."""
    return asyncio.run(stored(database, LIFE, encoder, language))


def evaluated(*words: str | Path) -> Result:
    """Runs `hotmem eval` for Ana."""
    return CliRunner().invoke(app.app, ["eval", "-u", "ana", *map(str, words)])


def test_settings_are_compared_and_the_file_stays_as_it_was(lived: Path, tmp_path: Path) -> None:
    before = hashlib.sha256(lived.read_bytes()).hexdigest()
    page = tmp_path / "report.html"
    outcome = evaluated(
        "-d",
        lived,
        "-s",
        "HOTMEM_MAX_CONTEXT_TOKENS=1",
        "-s",
        "weights=1.5,0.1,0.1,0.1",
        "--report",
        page,
    )
    assert outcome.exit_code == 0, outcome.output
    assert hashlib.sha256(lived.read_bytes()).hexdigest() == before
    assert "8 questions from 2 sessions" in outcome.output and "only 8 questions" in outcome.output
    lines = outcome.output.splitlines()
    place = next(place for place, line in enumerate(lines) if "MAX_CONTEXT_TOKENS=1" in line)
    assert " 0% " in lines[place] and "no clear difference" in lines[place + 1]
    html = page.read_text("utf-8")
    assert (
        "Keep your settings." in html and "no clear difference" in html and html.count("<svg") == 3
    )
    assert not re.search(r"(?:src|href)\s*=\s*[\"'](?!#)|@import|url\((?!#)", html), (
        "nothing is loaded"
    )
    assert not any(word in html for word in ("Potola", "Marta", "4711", "walnuts")), (
        "nothing that was said"
    )
    again = evaluated("-d", lived, "--report", page)
    assert isinstance(again.exception, InvalidInput) and "--overwrite" in str(again.exception)


def test_nothing_that_was_said_later_is_found(
    lived: Path, language: Language, encoder: CachedEncoder
) -> None:
    asked_first = (*talk("early", ASKED, 0), *talk("told", TOLD, 7), *talk("late", ASKED, 14))
    lived.unlink()
    asyncio.run(
        stored(
            lived,
            (*talk("hello", [("Hello, it is me, Ana.", "Hello Ana!")], -7), *asked_first),
            encoder,
            language,
        )
    )
    recording = read_recording(lived, "ana", 1000)
    exchanges = sampled(recording, language, 100)
    present: list[Setting] = settings(["HOTMEM_MAX_CONTEXT_TOKENS=500"], START_WEIGHTS)
    steps: list[None] = []
    rows = asyncio.run(
        replayed(recording, exchanges, present, language, lambda: steps.append(None))
    )
    assert len(steps) == work(recording, exchanges, present)
    early = [one for row in rows for one in row if one.session == 1]
    late = [one for row in rows for one in row if one.session == 3]
    assert len(early) == len(late) == 8
    assert all(one.found == 0 for one in early)
    assert sum(one.found for one in late) >= 6


def test_a_sample_is_the_same_every_time(lived: Path, language: Language) -> None:
    recording = read_recording(lived, "ana", 1000)
    assert len(list(recording.exchanges())) == 9, (
        "those of the first session have nothing to recall"
    )
    part = sampled(recording, language, 3)
    assert part == sampled(recording, language, 3) and len(part) == 3
    assert len(sampled(recording, language, 100)) == 8, "thanks need no memory"


def test_only_the_latest_turns_are_taken(lived: Path) -> None:
    recording = read_recording(lived, "ana", 10)
    assert (recording.turns, recording.left_out) == (10, len(LIFE) - 10)
    assert recording.sessions[-1][-1].text == ASKED[0][1]


def test_a_clock_that_jumps_leaves_a_session_in_the_order_it_was_said(
    database: Path, encoder: CachedEncoder, language: Language
) -> None:
    turns = talk("second", ASKED, 7)
    jumped = [
        Turn(
            turn.user_id,
            turn.session_id,
            turn.role,
            turn.text,
            turn.spoken_at - timedelta(days=20_000 * (place > 2)),
            turn.speaker,
            turn.id,
        )
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


def test_replies_of_any_sort_are_judged(
    database: Path, encoder: CachedEncoder, language: Language
) -> None:
    asked = talk("second", [("What is my dog called?", reply) for reply in (*REPLIES, "")], 7)
    asyncio.run(stored(database, (*talk("first", TOLD, 0), *asked), encoder, language))
    outcome = evaluated("-d", database, "-s", "HOTMEM_MAX_CONTEXT_TOKENS=300")
    assert outcome.exit_code == 0, outcome.output
    assert f"{len(REPLIES)} questions" in outcome.output


def test_one_file_is_read_while_a_bot_writes_to_it(
    lived: Path, encoder: CachedEncoder, language: Language
) -> None:
    async def both() -> int:
        async with Memory.open(lived, encoder=encoder, language=language) as memory:
            reading = asyncio.create_task(asyncio.to_thread(read_recording, lived, "ana", 1000))
            for number in range(20):
                await memory.remember(
                    said(f"I saw heron number {number}.", session="now", minutes=30 * DAY + number)
                )
            return (await reading).turns

    assert len(LIFE) <= asyncio.run(both()) <= len(LIFE) + 20


@pytest.mark.parametrize(
    ("turns", "told"),
    [
        ((), "Nothing that 'ana' said is stored"),
        ([turn for turn in LIFE if turn.role is Role.USER], "No reply of a bot is stored"),
        (talk("first", TOLD, 0), "Only one session"),
        (
            [*talk("first", TOLD, 0), *talk("second", [("What is my dog called?", "")], 7)],
            "no turn of this user was followed",
        ),
        (
            [*talk("first", TOLD, 0), *talk("second", [("Thank you!", "You are welcome.")], 7)],
            "a memory could know",
        ),
    ],
)
def test_what_is_missing_is_said(
    turns: Iterable[Turn], told: str, database: Path, encoder: CachedEncoder, language: Language
) -> None:
    asyncio.run(stored(database, turns, encoder, language))
    outcome = evaluated("-d", database)
    assert outcome.exit_code == 1 and isinstance(outcome.exception, InvalidInput)
    assert told in str(outcome.exception)


def test_a_file_that_is_not_ours_or_newer_is_refused(lived: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("a shopping list\n" * 200)
    with closing(connect(lived)) as conn:
        conn.execute("PRAGMA user_version = 999")
    (tmp_path / "empty.db").touch()
    for name, told in (
        ("notes.txt", "not a database"),
        (lived.name, "Update HotMem"),
        ("empty.db", "Nothing that 'ana' said"),
        ("gone.db", "not found"),
    ):
        outcome = evaluated("-d", tmp_path / name)
        assert isinstance(outcome.exception, HotMemError) and told in str(outcome.exception)


def test_nothing_to_compare_is_said(lived: Path) -> None:
    outcome = evaluated("-d", lived, "-s", "HOTMEM_MAX_CONTEXT_TOKENS=1000")
    assert isinstance(outcome.exception, InvalidInput) and "equal the present ones" in str(
        outcome.exception
    )


def test_the_report_says_beforehand_what_it_lacks(
    lived: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = evaluated("-d", lived, "--report", tmp_path / "no" / "folder.html")
    assert isinstance(outcome.exception, InvalidInput) and "does not exist" in str(
        outcome.exception
    )
    monkeypatch.delitem(sys.modules, "hotmem.replay.report", raising=False)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    outcome = evaluated("-d", lived, "--report", tmp_path / "report.html")
    assert isinstance(outcome.exception, InvalidInput) and "pipecat-hotmem[report]" in str(
        outcome.exception
    )
