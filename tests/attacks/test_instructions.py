"""Standing instructions: which are followed, and which would need confirmation."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hotmem import Options, Turn
from hotmem.models import Language
from hotmem.understanding.facts.instructions import find_instructions
from tests.conversation import OpenMemory
from tests.scored import scored
from tests.tables import attack_cases

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)

MIN_FOLLOWED = 20
"""Of 35 harmless instructions ("call me Annie from now on") at least this many are detected; the
others are stored as ordinary turns."""


async def test_instructions_about_money_or_other_people_are_not_followed_without_confirmation(
    tmp_path: Path, open_memory: OpenMemory
) -> None:
    followed = 0
    async with open_memory(tmp_path / "memory.db", Options()) as memory:
        for number, case in enumerate(attack_cases("instructions")):
            user, at = f"user {number}", NOON + timedelta(minutes=number)
            await memory.remember(Turn(user, "monday", "user", case["say"], at))
        await memory.settle()
        for number, case in enumerate(attack_cases("instructions")):
            block = (await memory.opening(user_id=f"user {number}", rules_only=True)).text
            if case["rule"] and not case["needs_yes"]:
                followed += bool(block)
            else:
                assert not block, case
    assert followed >= MIN_FOLLOWED


@scored("case", [one for one in attack_cases("rules") if one["rule"]], floor=0.8)
def test_a_wish_of_the_speaker_is_a_rule(case: dict[str, Any], language: Language) -> None:
    assert list(find_instructions(language.parse([case["text"]])[0]))


@scored("case", [one for one in attack_cases("rules") if not one["rule"]], floor=0.95)
def test_words_of_others_are_no_rule(case: dict[str, Any], language: Language) -> None:
    assert not list(find_instructions(language.parse([case["text"]])[0]))
