"""usage_patterns, from real recalls and replies."""

from datetime import UTC, datetime, timedelta

import pytest

from hotmem import InvalidInput, Memory
from hotmem.tools.quality import (
    SessionUse,
    UsageArguments,
    group_by_session,
    precision_trend,
    usage_patterns,
)
from hotmem.types import AnsweredRecall
from tests.conversation import START, remember, said

MONDAY = START + timedelta(days=7, hours=14)
"""23:00 UTC on a Monday."""


async def talk(memory: Memory) -> None:
    """Two memories; one is recalled in two sessions, and used in the second."""
    await remember(
        memory,
        "My dog is called Potola.",
        said("My sister lives in Porto.", session="tuesday", minutes=1500),
    )
    await memory.store_memory(
        "The boiler's serial number is 44 B 19.", user_id="ana", context={"tags": ["heating"]}
    )
    answer = "Your dog is called Potola!"
    asked = (
        ("one", 0, "Does Potola like Porto?", ""),
        ("two", 1, "What is my dog called?", answer),
        ("two", 1, "What's my dog called?", answer),
    )
    for session, days, question, reply in asked:
        block = await memory.recall(
            question, user_id="ana", session_id=session, at=MONDAY + timedelta(days=days)
        )
        await memory.feedback(block, reply=reply)


async def test_recalls_and_used_memories(memory: Memory) -> None:
    await talk(memory)
    found = await usage_patterns(memory, "ana", UsageArguments())
    assert (found.questions, found.answered) == (3, 3)
    assert found.by_hour == {"23": 3} and found.by_weekday == {"Monday": 1, "Tuesday": 2}
    assert found.asked_about == {"Potola": 1, "Porto": 1}
    assert 0 < found.used <= found.given and found.precision == pytest.approx(
        found.used / found.given
    )
    assert found.by_category and all(
        0 <= share.used <= share.given for share in found.by_category.values()
    )
    assert found.by_entity["Potola"].used > 0
    assert [one.content for one in found.most_used] == [
        "Ana's dog is called Potola."
    ] and found.most_used[0].accesses >= 2
    assert found.never_used >= 1 and any("44 B 19" in one.content for one in found.unused)
    assert (
        [one.session_id for one in found.sessions] == ["one", "two"]
        and found.trend is not None
        and found.trend > 0
    )


async def test_hours_are_in_the_time_zone_and_range(memory: Memory) -> None:
    await talk(memory)
    found = await usage_patterns(
        memory, "ana", UsageArguments(timezone="Asia/Tokyo", after=MONDAY + timedelta(hours=1))
    )
    assert (
        found.by_hour == {"08": 2} and found.by_weekday == {"Wednesday": 2} and found.questions == 2
    )
    assert (await usage_patterns(memory, "ana", UsageArguments(before=MONDAY))).questions == 0
    assert (await usage_patterns(memory, "nobody", UsageArguments())).trend is None
    with pytest.raises(InvalidInput, match="timezone is 'Moon'"):
        await usage_patterns(memory, "ana", UsageArguments(timezone="Moon"))


def asked(session: str, day: int, given: int, used: int) -> AnsweredRecall:
    return AnsweredRecall(datetime(2026, 3, day, tzinfo=UTC), session, "?", given, used)


def test_sessions_and_their_trend_by_arithmetic() -> None:
    sessions = group_by_session(
        [asked("b", 2, 4, 1), asked("a", 1, 2, 1), asked("b", 3, 4, 3), asked("c", 4, 0, 0)]
    )
    assert [(one.session_id, one.questions, one.precision) for one in sessions] == [
        ("a", 1, 0.5),
        ("b", 2, 0.5),
        ("c", 1, 0.0),
    ]
    assert precision_trend(sessions) == pytest.approx((0.5 + 0.0) / 2 - 0.5)
    assert precision_trend(sessions[:1]) is None


def test_the_trend_compares_the_halves() -> None:
    def session(precision: float) -> SessionUse:
        return SessionUse("s", START, 1, 10, int(10 * precision), precision)

    assert precision_trend(
        [session(0.1), session(0.3), session(0.6), session(0.8)]
    ) == pytest.approx(0.7 - 0.2)
