"""A call whose primary server dies: the replica is read, takes over, and gets what was said."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from pipecat.tests.utils import SleepFrame

from hotmem import Memory, Options, StoreReadOnly
from tests.commands import run
from tests.conversation import remember, said
from tests.pipecat.daniel import asking, contexts
from tests.pipecat.test_server import SAID, bot, prepare, say, stored
from tests.pipeline_runs import run_test
from tests.postgres import PostgresServer, server

pytestmark = pytest.mark.real_clock


@pytest.fixture
def primary() -> Iterator[PostgresServer]:
    with server("18", fsync="on", synchronous_commit="on") as running:
        yield running


def replicated(primary: PostgresServer, replica: PostgresServer) -> None:
    """Wait until the replica has what the primary has."""
    (at,) = primary.execute("SELECT pg_current_wal_lsn()")[0]
    while not replica.execute(f"SELECT pg_last_wal_replay_lsn() >= '{at}'::pg_lsn")[0][0]:
        pass


async def test_a_replica_takes_over_during_a_call(primary: PostgresServer, tmp_path: Path) -> None:
    name = primary.create_database("calls").rpartition("/")[2]
    await prepare(primary.url(name))
    with server("18", primary) as replica:
        both = (
            f"postgresql://owner@127.0.0.1:{replica.port},127.0.0.1:{primary.port}/{name}"
            "?target_session_attrs=read-write"
        )
        processor, failed = bot(both, tmp_path)

        async def fail_over() -> None:
            await asyncio.sleep(1.0)
            await asyncio.to_thread(replicated, primary, replica)
            await asyncio.to_thread(primary.stop, "immediate")
            await asyncio.sleep(1.0)
            await asyncio.to_thread(replica.promote)

        failing = asyncio.create_task(fail_over())
        down, _ = await run_test(
            processor,
            frames_to_send=[
                say(SAID[0]),
                SleepFrame(1.6),
                say(SAID[1]),
                asking("What pets do I have?"),
                SleepFrame(5.0),
                say(SAID[2]),
                SleepFrame(1.0),
            ],
        )
        await failing
        assert contexts(down)
        assert {stage for stage, _ in failed} <= {"remember", "recall", "prefetch", "feedback"}
        async with Memory.open(both, Options(spool_dir=tmp_path)) as memory:
            await memory.settle()
        assert stored(replica.url(name)) == list(SAID)


async def read_only(url: str, spool: Path) -> None:
    """Use a memory that cannot be written, by itself and in a call."""
    async with Memory.open(url, Options()) as memory:
        block = await memory.recall("What is the dog Potola?", user_id="ana")
        assert "Potola" in block.text
        with pytest.raises(StoreReadOnly, match="Name the primary"):
            await memory.remember(said("And a cat.", name="cat"))
        with pytest.raises(StoreReadOnly, match="Name the primary"):
            await memory.store_memory("I have a cat.", user_id="ana")
    processor, failed = bot(url, spool)
    await run_test(processor, frames_to_send=[say(text) for text in SAID])
    assert [type(error) for _, error in failed] == [StoreReadOnly] * 2
    assert str(failed[1][1]).startswith("3 turns were not stored: ") and processor.lost == 3


def test_a_replica_alone_is_read_and_says_why_it_is_not_written(
    primary: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = primary.create_database("calls").rpartition("/")[2]

    async def fill() -> None:
        async with Memory.open(primary.url(name), Options()) as memory:
            await remember(memory, "My dog is called Potola.")

    asyncio.run(fill())
    monkeypatch.setenv("HOTMEM_SPOOL_DIR", str(tmp_path))
    with server("18", primary) as replica:
        replicated(primary, replica)
        url = replica.url(name)
        asyncio.run(read_only(url, tmp_path))
        working = run("worker", "-d", url)
        assert isinstance(working.exception, StoreReadOnly)
        found = run("doctor", "-d", url)
        assert found.exit_code == 1 and "a replica" in found.output
