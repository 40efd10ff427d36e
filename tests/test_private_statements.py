"""Codes and secrets are in no block about something else."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hotmem import Memory, Turn
from hotmem.models import CachedEncoder, Language

SAID_AT = datetime(2026, 11, 2, 10, tzinfo=UTC)
SAID = (
    "My password for the bank is Sunflower22.",
    "My PIN is 4711.",
    "I like tea.",
    "My sister is called Ilse.",
    "I live in Graz.",
    "My car is a Skoda.",
    "I work at a bakery.",
    "We have two cats.",
    "My brother lives in Drammen.",
)


@pytest.fixture
async def told(tmp_path: Path, encoder: CachedEncoder, language: Language) -> AsyncIterator[Memory]:
    async with Memory.open(tmp_path / "memory.db", encoder=encoder, language=language) as memory:
        for place, text in enumerate(SAID):
            at = SAID_AT + timedelta(seconds=20 * place)
            await memory.remember(Turn("ana", "monday", "user", text, at))
        await memory.settle()
        yield memory


@pytest.mark.parametrize(
    ("question", "secret"),
    [
        ("What do I like to drink?", None),
        ("What pets do I have?", None),
        ("Where does my brother live?", None),
        ("What do you know about me?", None),
        ("How do I log in at the bank?", "Sunflower22"),
        ("What number do I type at the cash machine?", "4711"),
    ],
)
async def test_a_code_is_given_only_when_it_is_asked_for(
    told: Memory, question: str, secret: str | None
) -> None:
    block = await told.recall(question, user_id="ana", at=SAID_AT + timedelta(days=1))
    if secret is None:
        assert "Sunflower22" not in block.text
        assert "4711" not in block.text
    else:
        assert secret in block.text
