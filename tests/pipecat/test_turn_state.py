"""The turn that a reply belongs to."""

import asyncio
from datetime import UTC, datetime, timedelta

from hotmem.pipecat.context import UserMessage
from hotmem.pipecat.turn_state import TurnState, Utterance, find_replied_turn, now_ms
from hotmem.types import ContextBlock

EIGHT = datetime(2026, 3, 5, 8, tzinfo=UTC)


async def nothing() -> ContextBlock | None:
    return None


async def test_a_reply_belongs_to_the_latest_turn_before_it() -> None:
    task = asyncio.create_task(nothing())
    turns = [
        TurnState(
            UserMessage(number, number, "?"),
            Utterance("?"),
            task,
            0.0,
            asked_at=EIGHT + timedelta(seconds=10 * number),
        )
        for number in (1, 2)
    ]
    assert find_replied_turn(turns, "2026-03-05T08:00:05.000+00:00") is None
    assert find_replied_turn(turns, "2026-03-05T08:00:10.000+00:00") is turns[0]
    assert find_replied_turn(turns, "2026-03-05T08:00:19.999+00:00") is turns[0]
    assert find_replied_turn(turns, "2026-03-05T08:00:20.000+00:00") is turns[1]
    assert find_replied_turn(turns, "") is turns[1]
    assert find_replied_turn([], "") is None
    await task


def test_now_has_whole_milliseconds() -> None:
    assert now_ms().microsecond % 1000 == 0
