"""A memory on a server that cannot be reached for a while: the bot goes on, nothing is lost."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from loguru import logger
from pipecat.frames.frames import Frame, LLMContextUserTurnFrame
from pipecat.tests.utils import SleepFrame

from hotmem import HotMemError, Memory, Options
from hotmem.core.location import ServerUrl
from hotmem.errors import SpoolFull, StoreFull, StoreUnreachable
from hotmem.pipecat import HotMemProcessor, session_settings, turn_writer
from tests.pipecat.daniel import PATIENT_MS, THURSDAY, asking, contexts
from tests.pipecat.scene import NOW
from tests.pipeline_runs import run_test
from tests.postgres import PostgresServer, server
from tests.test_encryption import contents

pytestmark = pytest.mark.real_clock

SAID = ("I have a cat.", "And a dog.", "And a hamster.")


@pytest.fixture
def running() -> Iterator[PostgresServer]:
    with server("18", fsync="on", synchronous_commit="on") as started:
        yield started


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_settings, "RETRY_S", 0.1)


def bot(url: str, spool: Path) -> tuple[HotMemProcessor, list[tuple[str, HotMemError]]]:
    """A processor, and what it reports."""
    processor = HotMemProcessor(
        ServerUrl(url),
        user_id="daniel",
        session_id="thursday",
        deadline_ms=PATIENT_MS,
        opening_tokens=0,
        options=Options(spool_dir=spool),
        clock=lambda: THURSDAY,
    )
    failed: list[tuple[str, HotMemError]] = []
    processor.add_event_handler(
        "on_memory_error", lambda _, stage, error: failed.append((stage, error))
    )
    return processor, failed


def say(text: str) -> Frame:
    return LLMContextUserTurnFrame(text=text, timestamp=NOW)


def stored(url: str) -> list[str]:
    """Texts of all turns, in order."""
    with psycopg.connect(url) as conn:
        conn.execute("SET hotmem.scope = 'all'")
        return [text for (text,) in conn.execute("SELECT text FROM hotmem.turns ORDER BY id")]


async def prepare(url: str) -> None:
    async with Memory.open(url, Options()):
        pass


async def start_later(running: PostgresServer) -> None:
    await asyncio.sleep(0.5)
    await asyncio.to_thread(running.start)


async def stored_by_the_next(url: str, spool: Path) -> list[str]:
    """Texts of all turns, once another program has opened the memory with a spool."""
    async with Memory.open(url, Options(spool_dir=spool)) as memory:
        await memory.settle()
    return stored(url)


async def test_a_server_that_comes_back_after_the_start(
    running: PostgresServer, tmp_path: Path
) -> None:
    url = running.create_database("calls")
    await prepare(url)
    running.stop()
    processor, failed = bot(url, tmp_path)

    starting = asyncio.create_task(start_later(running))
    down, _ = await run_test(
        processor,
        frames_to_send=[
            *(say(text) for text in SAID[:2]),
            asking("What pets do I have?"),
            SleepFrame(2.5),
            say(SAID[2]),
            SleepFrame(0.5),
        ],
    )
    await starting
    assert contexts(down), "the bot answers without memory"
    assert [stage for stage, _ in failed] == ["open"]
    assert isinstance(failed[0][1], StoreUnreachable)
    assert stored(url) == list(SAID)


async def test_a_server_that_is_not_reached_in_a_call(
    running: PostgresServer, tmp_path: Path
) -> None:
    """What was said is in the spool at once, and stored by the next program."""
    url = running.create_database("calls")
    await prepare(url)
    running.stop()
    processor, failed = bot(url, tmp_path)
    spooled: list[str] = []
    processor.add_event_handler("on_memory_spooled", lambda _, turn: spooled.append(turn.text))
    await run_test(
        processor,
        frames_to_send=[
            *(say(text) for text in SAID[:2]),
            say("Don't keep that."),
            say(SAID[2]),
        ],
    )
    assert [stage for stage, _ in failed] == ["open"]
    assert spooled == list(SAID)
    assert SAID[1].encode() not in contents(tmp_path)
    running.start()
    assert await stored_by_the_next(url, tmp_path) == [SAID[0], SAID[2]]


async def test_neither_the_server_nor_the_spool_can_be_written(
    running: PostgresServer, tmp_path: Path
) -> None:
    """Turns are held in the process, and what is lost at the end is reported."""
    url = running.create_database("calls")
    await prepare(url)
    running.stop()
    (tmp_path / "file").touch()
    processor, failed = bot(url, tmp_path / "file")
    await run_test(processor, frames_to_send=[say(text) for text in SAID])
    assert [stage for stage, _ in failed] == ["open", *["remember"] * 3]
    processor, failed = bot(url, tmp_path / "file")

    starting = asyncio.create_task(start_later(running))
    await run_test(processor, frames_to_send=[*(say(text) for text in SAID), SleepFrame(2.5)])
    await starting
    assert stored(url) == list(SAID)


async def test_a_server_that_restarts_during_a_call(
    running: PostgresServer, tmp_path: Path
) -> None:
    url = running.create_database("calls")
    await prepare(url)
    spool = tmp_path / "made with the first turn"
    processor, failed = bot(url, spool)

    async def restart() -> None:
        await asyncio.sleep(1.0)
        await asyncio.to_thread(running.stop, "immediate")
        await asyncio.sleep(1.0)
        await asyncio.to_thread(running.start)

    restarting = asyncio.create_task(restart())
    down, _ = await run_test(
        processor,
        frames_to_send=[
            say(SAID[0]),
            SleepFrame(1.3),
            say(SAID[1]),
            asking("What pets do I have?"),
            SleepFrame(4.0),
            say(SAID[2]),
            SleepFrame(1.0),
        ],
    )
    await restarting
    assert contexts(down)
    assert {stage for stage, _ in failed} <= {"remember", "recall", "prefetch"}
    assert await stored_by_the_next(url, spool) == list(SAID)


async def test_the_servers_disk_is_full_for_a_while(
    running: PostgresServer, tmp_path: Path
) -> None:
    """A trigger raises the server's own error, as a full disk does."""
    url = running.create_database("calls")
    await prepare(url)
    running.execute(
        """CREATE FUNCTION hotmem.full() RETURNS TRIGGER LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
        CREATE TRIGGER full_disk BEFORE INSERT ON hotmem.turns
        FOR EACH ROW EXECUTE FUNCTION hotmem.full()""",
        "calls",
    )
    processor, failed = bot(url, tmp_path)
    await run_test(processor, frames_to_send=[*(say(text) for text in SAID), SleepFrame(0.5)])
    assert [(stage, type(error)) for stage, error in failed] == [("remember", StoreFull)]
    assert processor.spooled == len(SAID) and processor.lost == 0
    assert stored(url) == []
    running.execute("DROP TRIGGER full_disk ON hotmem.turns", "calls")
    assert await stored_by_the_next(url, tmp_path) == list(SAID)


async def test_more_turns_than_are_held_are_counted_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The event, the log and the metrics say how many, and none of them a word of what was said."""
    counted: list[int] = []
    logged: list[str] = []
    monkeypatch.setattr("hotmem.storage.spool.HELD", 2)
    monkeypatch.setattr(turn_writer, "count_lost", counted.append)
    in_the_way = tmp_path / "file"
    in_the_way.write_text("", "utf-8")
    sink = logger.add(logged.append, format="{message} {extra}")
    processor, failed = bot("postgresql://127.0.0.1:1/none", in_the_way)
    await run_test(processor, frames_to_send=[say(f"{text} {n}") for text in SAID for n in (1, 2)])
    logger.remove(sink)
    assert [type(error) for _, error in failed].count(SpoolFull) == 2, (
        "the first, and all at the end"
    )
    assert str(failed[-1][1]).startswith("4 turns were not stored")
    assert processor.lost == sum(counted) == 4
    assert any("4 turns were not stored" in line for line in logged)
    assert not any("hamster" in line for line in logged if "session_id" in line)
