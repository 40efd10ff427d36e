"""SIGKILL at any moment loses no acknowledged turn and duplicates nothing.

Unfinished jobs are finished at the next open.
"""

import asyncio
import multiprocessing
import random
from contextlib import closing
from pathlib import Path

import pytest

from hotmem import Memory
from hotmem.models import CachedEncoder, Encoder, Language
from hotmem.storage.sqlite.connection import connect
from tests.letters import LetterEncoder
from tests.victim import fail_until_killed, remember_until_killed, turn
from tests.warm import CONTEXT

ROUNDS, ROUNDS_IN_FULL = 6, 1000
LONGEST_S = 0.5
"""Seconds that a process lives at most after its first message."""

SEED = 20260302


@pytest.mark.timeout(3600)
def test_sigkill_at_any_moment_loses_no_acknowledged_turn(
    database: Path,
    encoder: CachedEncoder,
    language: Language,
    full: bool,
) -> None:
    moments = random.Random(SEED)
    acknowledged: set[int] = set()
    following = 0
    rounds = ROUNDS_IN_FULL if full else ROUNDS
    for _ in range(rounds):
        receiver, sender = CONTEXT.Pipe(duplex=False)
        process = CONTEXT.Process(
            target=remember_until_killed,
            args=(database, following, sender),
        )
        process.start()
        sender.close()
        assert receiver.poll(60), "the process sent no message"
        process.join(moments.uniform(0.0, LONGEST_S))
        assert process.exitcode is None
        process.kill()
        process.join()
        acknowledged |= everything(receiver)
        receiver.close()
        held = turns(database)
        assert acknowledged <= held <= acknowledged | {max(acknowledged) + 1}, (
            "at most the turn whose acknowledgement was in transit is there in addition"
        )
        following = max(held) + 1
        acknowledged = held
        asyncio.run(settled(database, encoder, language))
        check(database, held)
    assert len(acknowledged) > rounds


def test_sigkill_while_jobs_fail_leaves_nothing_undone(database: Path, language: Language) -> None:
    moments = random.Random(SEED)
    for _ in range(4):
        receiver, sender = CONTEXT.Pipe(duplex=False)
        process = CONTEXT.Process(target=fail_until_killed, args=(database, sender))
        process.start()
        sender.close()
        assert receiver.poll(60), "the process sent no message"
        process.join(moments.uniform(0.0, 0.3))
        process.kill()
        process.join()
        receiver.close()
    asyncio.run(settled(database, LetterEncoder(), language))
    with closing(connect(database, read_only=True)) as conn:
        assert conn.scalar("SELECT count(*) FROM turns") == 20
        for table in (
            "pending_turns",
            "failures",
            "passages WHERE vector IS NULL OR held",
            "memories WHERE vector IS NULL OR held",
        ):
            assert conn.scalar(f"SELECT count(*) FROM {table}") == 0, table
        assert (
            conn.execute(
                "SELECT count(*) FROM (SELECT DISTINCT user_key, text FROM memories)"
            ).fetchone()
            == conn.execute("SELECT count(*) FROM memories").fetchone()
        )


def everything(receiver: "multiprocessing.connection.Connection") -> set[int]:
    """Return the numbers that the process sent before it was killed."""
    numbers: set[int] = set()
    try:
        while True:
            numbers.add(receiver.recv())
    except EOFError:
        return numbers


async def settled(path: Path, encoder: Encoder, language: Language) -> None:
    """Open the file as the next start of the program does, and settle."""
    async with Memory.open(path, encoder=encoder, language=language) as memory:
        await memory.settle()


def turns(path: Path) -> set[int]:
    """Return the numbers of the stored turns, checking that each is stored once and unchanged."""
    with closing(connect(path)) as conn:
        rows = conn.execute("SELECT public_id, text FROM turns").fetchall()
    numbers = [int(name.removeprefix("t")) for name, _ in rows]
    assert len(set(numbers)) == len(numbers)
    assert all(text == turn(number).text for number, (_, text) in zip(numbers, rows, strict=True))
    return set(numbers)


def check(path: Path, held: set[int]) -> None:
    """Check that no job is pending, no row is duplicated, and none is incomplete."""
    with closing(connect(path, read_only=True)) as conn:

        def number(sql: str) -> int:
            return int(conn.scalar(sql))

        assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert conn.execute("PRAGMA foreign_key_check").fetchall() == []
        assert number("SELECT count(*) FROM pending_turns") == 0
        for table, kind in (
            ("passages", "passage"),
            ("memories", "memory"),
            ("summaries", "summary"),
        ):
            rows = number(f"SELECT count(*) FROM {table}")
            assert number(f"SELECT count(*) FROM {table} WHERE vector IS NULL") == 0
            assert number(f"SELECT count(*) FROM {kind}_entries WHERE bits NOT NULL") == rows
            assert kind == "summary" or number(f"SELECT count(*) FROM {kind}_words") == rows
        assert number("SELECT count(DISTINCT turn) FROM passages") == len(held)
        assert number("SELECT count(*) FROM (SELECT DISTINCT turn, start FROM passages)") == number(
            "SELECT count(*) FROM passages"
        )
        assert number(
            "SELECT count(*) FROM (SELECT DISTINCT user_key, text FROM memories)"
        ) == number("SELECT count(*) FROM memories")
        assert number("SELECT count(DISTINCT turn) FROM sources") == len(held)
        assert (
            number(
                "SELECT count(*) FROM memories WHERE valid_until IS NULL AND text LIKE '%is "
                "called Bo%'"
            )
            <= 1
        )
