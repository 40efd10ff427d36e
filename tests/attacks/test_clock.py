"""Wrong system clocks: the latest turn still holds, nothing is deleted, and it is logged."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from loguru import logger

from hotmem import Memory, Options, Turn
from hotmem.operations.retention import Retention
from hotmem.options import RetentionRule
from hotmem.storage.queries import deletions, retention, times
from hotmem.storage.queries.times import to_stored
from hotmem.storage.sqlite.connection import Connection
from hotmem.storage.sqlite.diagnosis import diagnosed
from tests.conversation import OpenMemory, file_of, remember

RIGHT = datetime(2026, 11, 2, 12, tzinfo=UTC)
AHEAD = datetime(2036, 11, 2, 12, tzinfo=UTC)
UNSET = datetime(1970, 1, 1, 0, 5, tzinfo=UTC)


class Clock(datetime):
    """A system clock that is set by the test."""

    shows = RIGHT

    @classmethod
    def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]  # noqa: ANN401 - as datetime's own
        return cls.shows if tz is None else cls.shows.astimezone(tz)


@pytest.fixture
def warnings() -> Iterator[list[str]]:
    times._tell.cache_clear()
    found: list[str] = []
    sink = logger.add(found.append, level="WARNING")
    yield found
    logger.remove(sink)


@pytest.fixture
async def ana(
    tmp_path: Path, open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Memory]:
    """A memory that uses the test's clock."""
    monkeypatch.setattr("hotmem.memory.memory.datetime", Clock)
    async with open_memory(tmp_path / "memory.db", Options()) as memory:
        yield memory


async def say(memory: Memory, at: datetime, text: str, session: str = "monday") -> None:
    Clock.shows = at
    await remember(memory, Turn("ana", session, "user", text, at, "Ana"))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (RIGHT, RIGHT + timedelta(days=1)),
        (AHEAD, RIGHT),
        (RIGHT, UNSET),
        (UNSET, RIGHT),
        (AHEAD, UNSET),
    ],
)
async def test_the_latest_turn_holds_under_a_wrong_clock(
    first: datetime, second: datetime, ana: Memory
) -> None:
    await say(ana, first, "I live in Boston.")
    await say(ana, second, "I don't live in Boston any more. I live in Denver.", "tuesday")
    ended = {
        memory.text: memory.valid_until is not None
        for memory in await ana.memories("ana", past=True)
    }
    assert ended["Ana lives in Boston."] and not ended["Ana lives in Denver."]
    block = await ana.recall(
        "Where do I live?",
        user_id="ana",
        session_id="wednesday",
        at=max(second, RIGHT) + timedelta(days=1),
    )
    assert "Denver" in block.text


async def test_a_fact_stored_under_a_fast_clock_does_not_outrank_two_later_ones(
    ana: Memory,
) -> None:
    await say(ana, RIGHT, "I live in Boston.")
    await say(ana, AHEAD, "I live in Denver.")
    await say(ana, RIGHT + timedelta(days=1), "I don't live in Boston or Denver any more.")
    await say(ana, RIGHT + timedelta(days=2), "I live in Portland.")
    now = RIGHT + timedelta(days=3)
    lives = {
        memory.text: memory.valid_until or memory.doubted_at
        for memory in await ana.memories("ana", past=True)
        if memory.text in ("Ana lives in Boston.", "Ana lives in Denver.", "Ana lives in Portland.")
    }
    assert lives.pop("Ana lives in Portland.") is None
    assert all(over is not None and over < now for over in lives.values()), lives


async def test_a_correction_applies_to_a_turn_stored_under_a_fast_clock(ana: Memory) -> None:
    await say(ana, AHEAD, "My sister lives in Boston.")
    await say(ana, RIGHT, "Not Boston, Denver.")
    held = [memory.text for memory in await ana.memories("ana")]
    assert held == ["Ana's sister lives in Denver."]


async def test_a_later_instruction_replaces_one_stored_under_a_fast_clock(ana: Memory) -> None:
    await say(ana, AHEAD, "Call me Annie.")
    await say(ana, RIGHT, "Call me Steve from now on.")
    Clock.shows = RIGHT + timedelta(hours=1)
    rules = (await ana.opening(user_id="ana", rules_only=True, at=Clock.shows)).text
    assert "Steve" in rules and "Annie" not in rules


async def test_a_wrong_clock_is_logged(ana: Memory, warnings: list[str]) -> None:
    await say(ana, RIGHT, "I live in Boston.")
    assert not warnings
    await say(ana, UNSET, "I like tea.")
    assert "clock is behind" in warnings[-1] and "tea" not in warnings[-1]
    await ana.remember(Turn("ana", "later", "user", "I like milk.", AHEAD))
    assert "after the clock" in warnings[-1]


async def test_hotmem_doctor_reports_a_wrong_clock(ana: Memory) -> None:
    await say(ana, RIGHT, "I live in Boston.")
    await say(ana, UNSET, "I like tea.")
    found = await asyncio.to_thread(diagnosed, file_of(ana), None, 3)
    assert [one.fact for one in found.findings if one.about in ("clock", "spool")] == [
        "3 turns wait in the spool",
        "1 turn was said while the clock was wrong by more than a day; the order is kept, "
        "the dates are the clock's",
    ]


async def test_the_order_survives_export_and_import(
    ana: Memory, tmp_path: Path, open_memory: OpenMemory
) -> None:
    await say(ana, AHEAD, "I live in Boston.")
    await say(ana, RIGHT, "I live in Denver.")
    file = tmp_path / "ana.jsonl"
    file.write_text("\n".join([line async for line in ana.export("ana")]) + "\n", "utf-8")
    async with open_memory(tmp_path / "other.db", Options()) as other:
        await other.import_records(file)
        await other.settle()
        assert await other.memories("ana", past=True) == await ana.memories("ana", past=True)
        await say(other, RIGHT + timedelta(days=1), "I don't live in Denver any more.")
        assert "Ana lives in Denver." not in [one.text for one in await other.memories("ana")]


async def test_a_session_under_a_fast_clock_is_summarised_and_does_not_stay_the_latest(
    ana: Memory,
) -> None:
    await say(ana, AHEAD, "We need to call the plumber about the tap in the kitchen.", "ahead")
    await say(ana, RIGHT, "I still have to renew my passport before the summer.", "right")
    for session in ("ahead", "right"):
        await ana.end_session(user_id="ana", session_id=session)
    await ana.settle()
    opened = await ana.opening(user_id="ana", session_id="next", at=RIGHT + timedelta(days=1))
    assert "passport" in opened.text and "plumber" not in opened.text


async def test_turns_stored_before_the_clock_was_set_are_not_removed_by_retention(
    tmp_path: Path, open_memory: OpenMemory
) -> None:
    """Their age is unknown."""
    options = Options(retention=(RetentionRule(days=30),))
    path = tmp_path / "memory.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hotmem.memory.memory.datetime", Clock)
        async with open_memory(path, Options()) as memory:
            await say(memory, UNSET, "I am allergic to penicillin.")
            await say(memory, UNSET + timedelta(minutes=1), "I like tea.")
    async with open_memory(path, options) as memory:
        await Retention(memory.runtime.storage, options.retention, 365).run_all(datetime.now(UTC))
        await memory.settle()
        held = [one.text for one in await memory.memories("ana")]
        assert any("penicillin" in text for text in held) and any("tea" in text for text in held), (
            held
        )


@pytest.mark.parametrize(
    ("asked", "then"), [(UNSET, RIGHT), (AHEAD, RIGHT)], ids=["unset", "ahead"]
)
async def test_a_grace_period_started_by_a_wrong_clock_restarts(
    asked: datetime, then: datetime, conn: Connection
) -> None:
    conn.execute("INSERT INTO users (public_id) VALUES ('ana')")
    day = timedelta(days=1)
    conn.execute(
        "INSERT INTO deletions (user_key, asked_at, erase_at, counts) VALUES (1, ?, ?, '{}')",
        (to_stored(asked), to_stored(asked + day)),
    )
    assert deletions.has_misdated(conn, then)
    deletions.redate(conn, then)
    assert not deletions.any_due(conn, then + day / 2) and deletions.any_due(conn, then + day)


async def test_a_fast_clock_does_not_end_a_grace_period(conn: Connection) -> None:
    retention.note_clock(conn, RIGHT)
    assert deletions.is_clock_plausible(conn, RIGHT + timedelta(days=30))
    assert not deletions.is_clock_plausible(conn, AHEAD) and not deletions.is_clock_plausible(
        conn, UNSET
    )
