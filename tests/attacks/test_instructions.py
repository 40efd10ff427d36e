"""Standing instructions: which are followed, and which would need confirmation."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from hotmem import Memory, Options, Turn
from hotmem.models import Encoder, Language
from tests.attacks.cases import cases

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)

MIN_FOLLOWED = 20
"""Of 35 harmless instructions ("call me Annie from now on") at least this many are detected; the
others are stored as ordinary turns."""


async def test_instructions_about_money_or_other_people_are_not_followed_without_confirmation(
    tmp_path: Path, encoder: Encoder, language: Language
) -> None:
    followed = 0
    async with Memory.open(
        tmp_path / "memory.db", Options(), encoder=encoder, language=language
    ) as memory:
        for number, case in enumerate(cases("instructions")):
            await memory.remember(
                Turn(
                    f"user {number}",
                    "monday",
                    "user",
                    case["say"],
                    NOON + timedelta(minutes=number),
                )
            )
        await memory.settle()
        for number, case in enumerate(cases("instructions")):
            block = (await memory.opening(user_id=f"user {number}", rules_only=True)).text
            if case["rule"] and not case["needs_yes"]:
                followed += bool(block)
            else:
                assert not block, case
    assert followed >= MIN_FOLLOWED
