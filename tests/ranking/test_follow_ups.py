"""What a user said next about the same thing stands with the statement that it may correct."""

from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from hotmem import Memory, Role, Turn
from hotmem.ranking.follow_ups import SHARE_OF_CORRECTED, with_follow_ups
from hotmem.types import Evidence
from tests.conversation import START
from tests.ranking.statements import evidence, query, ranked
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__, "corrections")
"""By somebody who saw no code; every other one was looked at when the thresholds were chosen."""

REPLIES = ("Okay, noted.", "Got it.", "All right. Anything else?", "Sure, I'll keep that in mind.")
FIRST = evidence("The boiler man comes on Tuesday.", key=3)
NEXT = evidence("not tuesday thursday", key=5, said_at=START + timedelta(minutes=1))


async def places(memory: Memory, case: dict[str, Any], *numbers: int) -> list[int | None]:
    """The places in a block, from 0, of utterances of a scene; None of one that is not in it."""
    user, ids = case["turns"][0] + case["question"], []
    for number, text in enumerate(case["turns"]):
        turn = Turn(user, "s", Role.USER, text, START + timedelta(minutes=number))
        await memory.remember(turn)
        ids.append(turn.id)
        reply = REPLIES[number % len(REPLIES)]
        at = turn.spoken_at + timedelta(seconds=9)
        await memory.remember(Turn(user, "s", Role.ASSISTANT, reply, at))
    await memory.settle()
    at = START + timedelta(days=7)
    block = await memory.recall(case["question"], user_id=user, session_id="later", at=at)
    found = {name: place for place, one in enumerate(block.items) for name in one.turn_ids}
    return [found.get(ids[number]) for number in numbers]


@scored("case", CASES["corrections"][1::2], floor=0.85)
async def test_a_correction_stands_above_what_it_corrects(
    case: dict[str, Any], memory: Memory
) -> None:
    old, new = await places(memory, case, case["old"], case["new"])
    assert new is not None and (old is None or new < old)


@scored("case", CASES["look_alikes"][1::2])
async def test_what_only_sounds_like_a_correction_does_not_stand_there(
    case: dict[str, Any], memory: Memory
) -> None:
    kept, near = await places(memory, case, case["kept"], case["near"])
    assert kept is not None and near is None


def relevance(after: Evidence) -> float:
    """The relevance of a later statement, by itself 0.01, beside one of 0.8."""
    told = (FIRST, 0.8), (after, 0.01)
    found = with_follow_ups(ranked(told, query()))
    return next(one.relevance for one in found if one.evidence.key == after.key)


def test_it_has_a_share_of_the_relevance() -> None:
    assert relevance(NEXT) == pytest.approx(SHARE_OF_CORRECTED * 0.8)


@pytest.mark.parametrize(
    "after",
    [
        NEXT._replace(speaker="Ben"),
        NEXT._replace(role=Role.ASSISTANT),
        NEXT._replace(session=9),
        NEXT._replace(position=10),
        NEXT._replace(position=-1),
        evidence("I hate liver.", key=5),
        evidence("Is it Tuesday today?", key=5),
        NEXT._replace(text="The code of the boiler is 4471."),
    ],
)
def test_others_keep_theirs(after: Evidence) -> None:
    assert relevance(after) == pytest.approx(0.01, abs=1e-4)


@pytest.mark.parametrize(("cosine", "expected"), [(0.5, SHARE_OF_CORRECTED * 0.8), (0.1, 0.01)])
def test_how_a_near_turn_begins_shows_that_it_corrects(cosine: float, expected: float) -> None:
    rows = np.eye(2, dtype=np.float32)
    vector = cosine * rows[0] + (1 - cosine**2) ** 0.5 * rows[1]
    for text, wanted in (("oh no half two", expected), ("half two he says", 0.01)):
        after = evidence(text, key=5, vector=vector)
        told = (FIRST._replace(vector=rows[0]), 0.8), (after, 0.01)
        found = {one.evidence.key: one for one in with_follow_ups(ranked(told, query()))}
        assert found[5].relevance == pytest.approx(wanted, abs=1e-4)
