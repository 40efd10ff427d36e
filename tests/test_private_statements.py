"""Codes and secrets are in no block about something else."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hotmem import InvalidInput, Memory, Turn
from hotmem.pipecat.session_settings import UNNAMED, SessionSettings
from hotmem.understanding.private_statements import secrecy
from tests.conversation import OpenMemory
from tests.tables import tables

CASES = tables(__file__)

SAID_AT = datetime(2026, 11, 2, 10, tzinfo=UTC)
SAID = CASES["said"]


@pytest.fixture
async def told(tmp_path: Path, open_memory: OpenMemory) -> AsyncIterator[Memory]:
    async with open_memory(tmp_path / "memory.db") as memory:
        for place, text in enumerate(SAID):
            at = SAID_AT + timedelta(seconds=20 * place)
            await memory.remember(Turn("ana", "monday", "user", text, at))
        await memory.settle()
        yield memory


@pytest.mark.parametrize(("question", "secret"), CASES["a_code_is_given_only_when_it_is_asked"])
async def test_a_code_is_given_only_when_it_is_asked_for(
    told: Memory, question: str, secret: str | None
) -> None:
    block = await told.recall(question, user_id="ana", at=SAID_AT + timedelta(days=1))
    if secret is None:
        assert "Sunflower22" not in block.text
        assert "4711" not in block.text
    else:
        assert secret in block.text


async def test_a_guest_gets_no_secret_and_no_name_is_no_key(told: Memory) -> None:
    at = SAID_AT + timedelta(days=1)
    for asked_by in ("Tom", ""):
        block = await told.recall("What is my PIN?", user_id="ana", at=at, asked_by=asked_by)
        assert "4711" not in block.text
    own = await told.recall("Where does my brother live?", user_id="ana", at=at, asked_by="Tom")
    assert "Drammen" not in own.text
    with pytest.raises(InvalidInput, match="asked_by"):
        await told.recall("What is my PIN?", user_id="ana", asked_by=3)  # type: ignore[arg-type]


async def test_no_checked_text_is_left_in_this_process_after_a_deletion(told: Memory) -> None:
    await told.recall("What is my PIN?", user_id="ana", at=SAID_AT + timedelta(days=1))
    assert secrecy.cache_info().currsize
    await told.forget(user_id="ana", everything=True)
    assert not secrecy.cache_info().currsize


def test_two_speakers_without_a_name_are_not_the_same() -> None:
    settings = SessionSettings("ana", "now", 150.0, None, clock=lambda: SAID_AT, user_name="Ana")
    assert settings.user_speaker_name("one") == "Ana"
    assert settings.user_speaker_name("two") == settings.user_speaker_name("one") == UNNAMED
    assert settings.heard_as(UNNAMED) != UNNAMED and settings.heard_as("Tom") == "Tom"
    assert settings.in_room
