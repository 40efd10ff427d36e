"""Hostile argument values are accepted, or refused with a HotMem error."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from hotmem import InvalidInput, Memory, Turn
from tests.tables import attack_cases

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
CALLS: dict[str, tuple[Callable[[Memory, Any], Awaitable[object]], ...]] = {
    "user_id": (
        lambda memory, value: memory.recall("tea", user_id=value),
        lambda memory, value: remember(memory, user_id=value),
        lambda memory, value: memory.store_memory("I like tea.", user_id=value),
        lambda memory, value: memory.forget(user_id=value, everything=True),
        lambda memory, value: memory.memories(value),
    ),
    "session_id": (
        lambda memory, value: memory.recall("tea", user_id="ana", session_id=value),
        lambda memory, value: remember(memory, session_id=value),
        lambda memory, value: memory.end_session(user_id="ana", session_id=value),
        lambda memory, value: memory.forget(user_id="ana", session_id=value),
    ),
    "text": (
        lambda memory, value: remember(memory, text=value),
        lambda memory, value: memory.store_memory(value, user_id="ana"),
    ),
    "query": (
        lambda memory, value: memory.recall(value, user_id="ana"),
        lambda memory, value: memory.search_memory(value, user_id="ana"),
        lambda memory, value: memory.search_contextual(value, user_id="ana"),
    ),
    "entity": (lambda memory, value: memory.forget(user_id="ana", entity=value),),
    "max_tokens": (lambda memory, value: memory.recall("tea", user_id="ana", max_tokens=value),),
    "deadline_ms": (lambda memory, value: memory.recall("tea", user_id="ana", deadline_ms=value),),
    "at": (
        lambda memory, value: memory.recall("tea", user_id="ana", at=value),
        lambda memory, value: remember(memory, spoken_at=value),
    ),
    "visible": (lambda memory, value: memory.recall("tea", user_id="ana", visible=value),),
}


async def remember(memory: Memory, **given: Any) -> object:  # noqa: ANN401 - whatever an attacker passes
    return await memory.remember(
        Turn(
            **{
                "user_id": "ana",
                "session_id": "monday",
                "role": "user",
                "text": "I like tea.",
                "spoken_at": NOON,
                **given,
            }
        )
    )


@pytest.mark.parametrize(
    "case", attack_cases("arguments"), ids=lambda case: f"{case['argument']} {case['why'][:50]}"
)
async def test_a_hostile_value_is_accepted_or_refused_with_a_hotmem_error(
    case: dict[str, str], memory: Memory
) -> None:
    import datetime as dates  # what the expressions name
    import math
    import zoneinfo

    value = eval(
        case["python"], {"datetime": dates, "math": math, "zoneinfo": zoneinfo, **vars(dates)}
    )
    for door in CALLS[case["argument"]]:
        try:
            await door(memory, value)
        except InvalidInput as error:
            assert 20 < len(str(error)) < 600
    assert (await memory.search_memory("tea", user_id="eve")).results == ()
