"""What is said off the record, in the words of others, and what only sounds so: what would be stored of whole dialogues."""

from typing import Any

import pytest

from hotmem.commands import Commands
from tests.attacks.cases import cases

UNHEARD = {
    "don't write this down ok about the chlamydia": "heard for this turn, and not for the one before",
    "housing but strike that don't note where i work exactly": "an order without a stop before it",
    "I failed the exam again. Ugh, forget it.": "in doubt: may mean never mind",
}
"""Requests that are not heard, or not for all that they mean."""

HEARD_WRONGLY = {"Between you and me, which film would you pick? I like westerns.": "in doubt, and so not stored"}
"""What is taken for a request and is none, or may be none."""


def stored(turns: list[dict[str, str]]) -> list[int]:
    """Places of the turns that stay in the memory, as the processor remembers them."""
    commands, kept, number = Commands("ana", "monday"), set[str](), 0
    for place, turn in enumerate(turns):
        if turn["who"] == "user":
            number += 1
            kept -= set(commands.hear(number, turn["say"]))
            keeps, replies_to = commands.keeps, None
        else:
            keeps, replies_to = commands.keeps_reply(number), number
        if keeps:
            commands.noted(str(place), replies_to)
            kept.add(str(place))
    return sorted(map(int, kept))


@pytest.mark.parametrize("case", cases("off_record"), ids=lambda case: case["turns"][0]["say"][:60])
def test_what_is_not_to_be_kept_is_not(case: dict[str, Any]) -> None:
    said = {turn["say"] for turn in case["turns"]}
    leaked = [place for place in stored(case["turns"]) if place in case["not_kept"]]
    assert bool(leaked) is bool(said & UNHEARD.keys())


@pytest.mark.parametrize("case", [case for case in cases("off_record") if not case["not_kept"]], ids=lambda case: case["turns"][0]["say"][:60])
def test_what_only_sounds_like_a_request_is_kept(case: dict[str, Any]) -> None:
    whole = len(stored(case["turns"])) == len(case["turns"])
    assert whole is not bool({turn["say"] for turn in case["turns"]} & HEARD_WRONGLY.keys())
