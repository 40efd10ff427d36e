"""Requests not to store something, in dialogues, and utterances that only sound like one."""

from typing import Any

import pytest

from hotmem.pipecat.turn_retention import TurnRetention
from hotmem.understanding.query.command_finder import CommandFinder
from tests.attacks.cases import cases

UNHEARD = {
    "don't write this down ok about the chlamydia": (
        "heard for this turn, and not for the one before"
    ),
    "housing but strike that don't note where i work exactly": "an order without a stop before it",
    "I failed the exam again. Ugh, forget it.": "in doubt: may mean never mind",
    "no no don't save that lord have mercy": "heard for this turn, and not for the one before",
    "yeah the bit about the arrest shouldn't be in there. keep the train time": "of two things one",
    "this is just for now don't file it away i'm thinking of putting mum in the care home on elm "
    "road": "in doubt: not for what comes later",
    "i dey send my brother five hundred every month my wife no know abeg no keep "
    "am": "Nigerian Pidgin",
    "I'm gonna vent and I want zero of it retained, got it? Until I say I'm "
    "done.": "heard for this turn, and not for those to come",
    "we got a settlement of forty thousand from the crash and the lawyer says we can't have that "
    "down anywhere so don't": "the order is left out",
    "yes he's out. he uses this speaker too so please there can't be any trace of what i just told "
    "you": "heard for this turn, and not before",
    "i don't want you keeping anything about my health from now on": "for one topic",
    "The car thing, pretend you never heard that.": "of an earlier turn, by its topic",
    "let's talk about something but it doesn't leave this "
    "room": "in doubt: heard for this turn, and not for those to come",
    "me nah want dis save but mi blood pressure did one eighty over one ten dis "
    "mawnin": "Jamaican Patois",
}
"""Requests that are not detected, or only in part."""

HEARD_WRONGLY = {
    "Between you and me, which film would you pick? I like westerns.": "in doubt, and so not stored"
}
"""False positives."""


def stored(turns: list[dict[str, str]], find: CommandFinder | None = None) -> list[int]:
    """Return the indexes of the stored turns, by the commands that `find` or the rules find."""
    retention, kept, number = TurnRetention(find), set[str](), 0
    for place, turn in enumerate(turns):
        if turn["who"] == "user":
            number += 1
            kept -= set(retention.end_turn(number, turn["say"]))
            keeps, replies_to = retention.stores_turn, None
        else:
            keeps, replies_to = retention.stores_reply(number), number
        if keeps:
            retention.add_stored(str(place), replies_to)
            kept.add(str(place))
    return sorted(map(int, kept))


@pytest.mark.parametrize("case", cases("off_record"), ids=lambda case: case["turns"][0]["say"][:60])
def test_turns_off_the_record_are_not_stored(case: dict[str, Any]) -> None:
    said = {turn["say"] for turn in case["turns"]}
    leaked = [place for place in stored(case["turns"]) if place in case["not_kept"]]
    assert bool(leaked) is bool(said & UNHEARD.keys())


@pytest.mark.parametrize(
    "case",
    [case for case in cases("off_record") if not case["not_kept"]],
    ids=lambda case: case["turns"][0]["say"][:60],
)
def test_turns_that_only_sound_like_a_request_are_stored(case: dict[str, Any]) -> None:
    whole = len(stored(case["turns"])) == len(case["turns"])
    assert whole is not bool({turn["say"] for turn in case["turns"]} & HEARD_WRONGLY.keys())
