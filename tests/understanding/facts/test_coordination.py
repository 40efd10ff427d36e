"""Coordinated statements and self-repairs: full precision, and at least `READ` recall."""

from datetime import UTC, datetime
from typing import Any, Final

import pytest

from hotmem import Memory
from hotmem.models import Language
from hotmem.types import Turn
from tests.conversation import read_facts
from tests.scored import scored
from tests.tables import tables

JOINED = tables(__file__, "coordination")
AT = datetime(2026, 11, 23, 10, tzinfo=UTC)

READ: Final = 0.5
"""Minimum recall."""


def read(text: str, language: Language) -> set[str]:
    """The statements extracted from a turn of a speaker without a name."""
    found = read_facts(language, text, None, AT)
    return {one.text for one in found.statements}


@scored("case", JOINED)
def test_precision_is_full(case: dict[str, Any], language: Language) -> None:
    assert read(case["text"], language) <= set(case["facts"])


def test_recall(language: Language) -> None:
    found = sum(len(read(case["text"], language)) for case in JOINED)
    assert found >= READ * sum(len(case["facts"]) for case in JOINED)


@pytest.mark.parametrize(
    "said",
    [
        "My favourite colour is teal, no wait, it's ochre.",
        "My favourite colour is teal, no wait, it's actually rather like ochre.",
    ],
)
async def test_a_repair_does_not_end_earlier_facts(memory: Memory, said: str) -> None:
    for text in ("My car is a Volvo.", said):
        await memory.remember(Turn("ana", "s", "user", text, AT))
    await memory.settle()
    held = [one.text for one in await memory.memories(user_id="ana")]
    assert "The user's car is a Volvo." in held
    assert not any("teal" in text for text in held)
