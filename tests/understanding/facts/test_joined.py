"""Statements joined by "and" and repaired in one breath.

Nothing is read that was not said, and about half of what was.
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from hotmem import Memory
from hotmem.models import Language
from hotmem.types import Role, Turn
from hotmem.understanding.facts import extract_facts

JOINED = json.loads(Path(__file__).with_name("joined.json").read_text("utf-8"))
AT = datetime(2026, 11, 23, 10, tzinfo=UTC)

READ: Final = 0.5
"""Share of what was told that is read; 0.54 when this was written."""


def read(text: str, language: Language) -> set[str]:
    """What is read in a turn of somebody without a name."""
    told = extract_facts(
        language.parse([text])[0], lambda words: language.parse([words])[0], None, Role.USER, AT
    )
    return {one.text for one in told.statements}


@pytest.mark.parametrize("case", JOINED, ids=lambda case: case["text"])
def test_nothing_is_read_that_was_not_said(case: dict[str, Any], language: Language) -> None:
    assert read(case["text"], language) <= set(case["told"])


def test_most_of_what_is_said_is_read(language: Language) -> None:
    found = sum(len(read(case["text"], language)) for case in JOINED)
    assert found >= READ * sum(len(case["told"]) for case in JOINED)


@pytest.mark.parametrize(
    "said",
    [
        "My favourite colour is teal, no wait, it's ochre.",
        "My favourite colour is teal, no wait, it's actually rather like ochre.",
    ],
)
async def test_a_repair_ends_nothing_that_was_said_before(memory: Memory, said: str) -> None:
    for text in ("My car is a Volvo.", said):
        await memory.remember(Turn("ana", "s", "user", text, AT))
    await memory.settle()
    held = [one.text for one in await memory.memories(user_id="ana")]
    assert "The user's car is a Volvo." in held
    assert not any("teal" in text for text in held)
