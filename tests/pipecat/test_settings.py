"""Precedence of arguments, memory options and environment in a processor."""

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from hotmem import InvalidInput, Memory, Options
from hotmem.options import RecallOptions
from hotmem.pipecat import HotMemProcessor


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "RECALL_DEADLINE_MS": "80",
        "TIME_ZONE": "Asia/Tokyo",
        "OPENING_TOKENS": "2",
        "DATABASE": "mine.db",
    }.items():
        monkeypatch.setenv(f"HOTMEM_{name}", value)


def test_defaults_come_from_the_environment() -> None:
    processor = HotMemProcessor(user_id="ana")
    assert processor._handle.owned and processor._handle.memory.runtime.location == Path("mine.db")
    assert processor._handle.memory.runtime.options.recall.opening_tokens == 2
    assert processor._settings.deadline_ms == 80
    assert processor._settings.clock().tzinfo == ZoneInfo("Asia/Tokyo")


def test_arguments_take_precedence() -> None:
    at = datetime(2026, 3, 2, tzinfo=UTC)
    processor = HotMemProcessor(
        "other.db", user_id="ana", deadline_ms=0, clock=lambda: at, options=Options()
    )
    assert processor._handle.owned and processor._handle.memory.runtime.location == Path("other.db")
    assert processor._handle.memory.runtime.options == Options()
    assert processor._settings.deadline_ms == 0
    assert processor._settings.clock() == at


def test_options_of_a_memory_take_precedence_over_the_environment() -> None:
    memory = Memory(
        "other.db",
        Options(recall=RecallOptions(deadline_ms=40), time_zone=ZoneInfo("Europe/Lisbon")),
    )
    processor = HotMemProcessor(memory, user_id="ana")
    assert processor._settings.deadline_ms == 40
    assert processor._settings.clock().tzinfo == ZoneInfo("Europe/Lisbon")


def test_an_invalid_variable_is_an_error_of_the_constructor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOTMEM_RECALL_DEADLINE_MS", "soon")
    with pytest.raises(InvalidInput, match="HOTMEM_RECALL_DEADLINE_MS cannot be 'soon'"):
        HotMemProcessor("other.db", user_id="ana", options=Options())
