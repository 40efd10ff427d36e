"""A memory file that disappears or is locked during a call.

The bot continues, and every turn that is not stored is reported.
"""

import asyncio
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from shutil import copy

import pytest
from pipecat.frames.frames import LLMContextUserTurnFrame
from pipecat.tests.utils import SleepFrame

from hotmem import Memory, StoreGone, StoreLocked, Turn
from hotmem.pipecat import HotMemProcessor, shutdown
from hotmem.pipecat.turn_writer import FALLBACK_AFTER_S, WriteQueue
from hotmem.storage.spool import path_of
from hotmem.storage.sqlite import connection
from tests.pipecat.daniel import MONDAY, asking, contexts, daniels, events, tell
from tests.pipecat.scene import NOW, turns_in
from tests.pipeline_runs import run_test

pytestmark = pytest.mark.real_clock

HOLDING = """
import sys
from pathlib import Path
from hotmem.storage.sqlite.connection import connect

conn = connect(Path(sys.argv[1]))
conn.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
conn.execute("ROLLBACK")
"""
"""A program that holds the write lock until its standard input ends."""


TELLS_HOLDERS = Path("/proc/locks").exists()


def deleted(path: Path) -> None:
    for one in path.parent.glob(f"{path.name}*"):
        one.unlink()


def moved(path: Path) -> None:
    path.rename(path.with_name("elsewhere.db"))


def replaced(path: Path) -> None:
    copy(path, path.with_name("other.db"))
    path.with_name("other.db").rename(path)


@contextmanager
def locked(path: Path) -> Iterator[str]:
    """Hold the write lock of a file in another process; yields its name in errors."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        try:
            yield f"process {process.pid} (python" if TELLS_HOLDERS else "another program"
        finally:
            process.stdin.close()
            process.wait(10)


def listen(processor: HotMemProcessor) -> tuple[list[tuple[str, Exception]], list[Turn]]:
    """Failures and stored turns from now on."""
    failed: list[tuple[str, Exception]] = []
    processor.add_event_handler(
        "on_memory_error", lambda _, stage, error: failed.append((stage, error))
    )
    stored = events(processor, "on_memory_stored")
    return failed, stored


def turn(text: str) -> LLMContextUserTurnFrame:
    return LLMContextUserTurnFrame(text=text, timestamp=NOW)


@pytest.mark.parametrize(
    ("vanish", "fact"),
    [
        (deleted, "deleted or moved"),
        (moved, "deleted or moved"),
        (replaced, "replaced by another file"),
    ],
)
async def test_a_file_that_disappears_during_a_call(
    vanish: Callable[[Path], None], fact: str, told: Memory, database: Path
) -> None:
    vanish(database)
    processor = daniels(told)
    failed, stored = listen(processor)
    down, _ = await run_test(
        processor,
        frames_to_send=[
            turn("I have a cat."),
            turn("And a dog."),
            asking("What is my dog called?"),
            SleepFrame(0.5),
        ],
    )
    assert stored == []
    assert [stage for stage, _ in failed] == [
        "remember",
        "end of session",
    ] and processor.failures == 2
    assert processor.spooled == 2, "both turns are spooled"
    for _, error in failed:
        assert (
            isinstance(error, StoreGone)
            and fact in str(error)
            and "open the memory again" in str(error)
        )
    (shown,) = contexts(down)
    assert "Rocky" in str(shown.context.get_messages()), "recall still works"


async def test_every_write_raises_if_the_file_is_gone(told: Memory, database: Path) -> None:
    deleted(database)
    for write in (
        told.remember(Turn("daniel", "monday", "user", "I have a cat.", MONDAY)),
        told.store_memory("I like tea.", user_id="daniel"),
        told.forget(user_id="daniel", everything=True),
    ):
        with pytest.raises(StoreGone, match=re.escape(str(database))):
            await write
    assert (await told.search_memory("dog", user_id="daniel")).results
    assert not await asyncio.to_thread(database.exists), "no new file is created"


async def test_a_relative_path_survives_a_change_of_directory(
    tmp_path: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    encoder, language = memory.runtime.recall.encoder, memory.runtime.recall.language
    async with Memory.open("here.db", encoder=encoder, language=language) as own:
        (tmp_path / "below").mkdir()
        monkeypatch.chdir(tmp_path / "below")
        assert await own.remember(Turn("daniel", "monday", "user", "I have a cat.", MONDAY))


async def test_a_lock_during_a_call_is_reported_with_its_holder(
    memory: Memory, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "LOCK_WAIT_S", 0.2)
    await tell(memory)
    processor = daniels(memory)
    failed, stored = listen(processor)
    with locked(database) as holder:
        await run_test(processor, frames_to_send=[turn("I have a cat."), SleepFrame(0.5)])
        with pytest.raises(StoreLocked, match=re.escape(f"by {holder}")):
            await memory.store_memory("I like tea.", user_id="daniel")
    assert (
        stored == []
        and [stage for stage, _ in failed] == ["remember", "end of session"]
        and processor.spooled == 1
    )
    for _, error in failed:
        assert isinstance(error, StoreLocked) and "end what holds it, or try again" in str(error)
        assert f"by {holder}" in str(error)
    assert await memory.remember(Turn("daniel", "monday", "user", "Now it can be written.", MONDAY))
    assert [words for _, words in turns_in(database)][-2:] == [
        "I have a cat.",
        "Now it can be written.",
    ] and not memory.runtime.spooled


async def test_a_lock_that_outlasts_the_call_is_reported_for_every_turn(
    memory: Memory, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutdown, "STEP_TIMEOUT_S", 0.3)
    await memory.settle()
    processor = daniels(memory)
    failed, stored = listen(processor)
    with locked(database) as holder:
        await run_test(processor, frames_to_send=[turn("I have a cat."), turn("And a dog.")])
        assert stored == [] and turns_in(database) == []
        assert [stage for stage, _ in failed] == [
            "end of session",
            "remember",
            "remember",
        ] and processor.spooled == 2
        assert all(
            isinstance(error, StoreLocked) and f"by {holder}" in str(error) for _, error in failed
        ), failed
    await memory.settle()
    assert turns_in(database) == [("user", "I have a cat."), ("user", "And a dog.")]


async def test_a_memory_given_by_path_is_closed_while_its_file_is_locked(database: Path) -> None:
    processor = daniels(database)
    failed, _ = listen(processor)
    call = asyncio.create_task(
        run_test(processor, frames_to_send=[SleepFrame(3), turn("I have a cat.")])
    )
    while processor._handle.current is None:  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(0.05)
    await processor._handle.current.settle()
    with locked(database):
        await call
    assert [stage for stage, _ in failed][:2] == ["end of session", "remember"]
    assert all(isinstance(error, StoreLocked) for _, error in failed[:2])
    assert "close" not in [stage for stage, _ in failed], "nothing waits for the lock"
    assert turns_in(database) == []
    async with Memory.open(database) as again:
        await again.settle()
    assert turns_in(database) == [("user", "I have a cat.")]
    assert not path_of(database).exists(), "the spool is empty"


async def test_a_blocked_write_does_not_block_the_next() -> None:
    done: list[str] = []

    async def instead(name: str) -> None:
        done.append(name)

    async def failed(name: str, error: Exception) -> None:
        raise AssertionError(name) from error

    queue = WriteQueue(failed, lambda: True)
    running = asyncio.create_task(queue.run())
    for name in ("first", "second"):
        queue.put(name, asyncio.Event().wait, partial(instead, name))
    await asyncio.sleep(3 * FALLBACK_AFTER_S)
    assert done == ["first", "second"]
    running.cancel()
    await queue.close()
