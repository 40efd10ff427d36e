"""References in a query are resolved from its own session only."""

from datetime import UTC, datetime, timedelta

import pytest

from hotmem import Memory, Role, Turn
from hotmem.retrieval.context import RecallRequest
from hotmem.retrieval.query import build_query

MONDAY = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)


async def talk(memory: Memory) -> None:
    said = (
        (Role.USER, "Tell me about the weather in Lisbon."),
        (Role.ASSISTANT, "Sunny, 20 degrees."),
        (Role.USER, "I might visit my sister Marta there."),
    )
    for place, (role, text) in enumerate(said):
        await memory.remember(
            Turn("ana", "monday", role, text, MONDAY + timedelta(seconds=20 * place))
        )
    await memory.settle()


@pytest.mark.parametrize(
    ("question", "found"), [("Where does she live?", "Marta"), ("And tomorrow?", "Lisbon")]
)
async def test_references_are_resolved_from_the_session(
    memory: Memory, question: str, found: str
) -> None:
    await talk(memory)
    query, _ = await build_query(
        memory.runtime.recall,
        RecallRequest(question, "ana", "monday", MONDAY + timedelta(minutes=2), 1000),
    )
    assert found in query.analysis.expansion


@pytest.mark.parametrize(
    ("user", "session"), [("ana", "tuesday"), ("ana", None), ("ben", "monday")]
)
async def test_other_sessions_resolve_nothing(
    memory: Memory, user: str, session: str | None
) -> None:
    await talk(memory)
    query, _ = await build_query(
        memory.runtime.recall,
        RecallRequest("Where does she live?", user, session, MONDAY + timedelta(minutes=2), 1000),
    )
    assert query.analysis.ambiguous and query.analysis.expansion == ()
