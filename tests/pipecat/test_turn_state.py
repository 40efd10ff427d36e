"""Which question a reply belongs to."""

import asyncio
from datetime import UTC, datetime, timedelta

from hotmem.pipecat.context import Question
from hotmem.pipecat.prefetch import Ask
from hotmem.pipecat.turn_state import TurnState, answered, now_ms
from hotmem.types import ContextBlock

EIGHT = datetime(2026, 3, 5, 8, tzinfo=UTC)


async def nothing() -> ContextBlock | None:
    return None


async def test_a_reply_answers_the_latest_question_asked_before_it_began() -> None:
    task = asyncio.create_task(nothing())
    exchanges = [
        TurnState(
            Question(number, number, "?"),
            Ask("?"),
            task,
            0.0,
            asked_at=EIGHT + timedelta(seconds=10 * number),
        )
        for number in (1, 2)
    ]
    assert answered(exchanges, "2026-03-05T08:00:05.000+00:00") is None
    assert answered(exchanges, "2026-03-05T08:00:10.000+00:00") is exchanges[0]
    assert answered(exchanges, "2026-03-05T08:00:19.999+00:00") is exchanges[0]
    assert answered(exchanges, "2026-03-05T08:00:20.000+00:00") is exchanges[1]
    assert answered(exchanges, "") is exchanges[1]
    assert answered([], "") is None
    await task


def test_now_has_whole_milliseconds() -> None:
    assert now_ms().microsecond % 1000 == 0
