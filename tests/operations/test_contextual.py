"""Contextual search: sessions, related sessions, repeated statements, and lines for a prompt."""

import pytest

from hotmem import InvalidInput, Memory
from hotmem.operations.results import as_json
from tests.conversation import said
from tests.tables import tables

CASES = tables(__file__)

SESSIONS = CASES["sessions"]


async def tell(memory: Memory) -> None:
    """Three sessions, two of them about logging in, and something stored."""
    for number, (session, *texts) in enumerate(SESSIONS):
        for place, text in enumerate(texts):
            minutes = 2000 * number + place
            await memory.remember(said(text, session=session, minutes=minutes))
        await memory.end_session(user_id="ana", session_id=session)
    await memory.settle()
    await memory.store_memory("The serial number of the boiler is 44 B 19.", user_id="ana")
    await memory.settle()


async def test_messages_are_in_order(memory: Memory) -> None:
    await tell(memory)
    found = await memory.search_contextual("What kind of bread did I bake?", user_id="ana")
    assert (found.sessions[0].session_id, found.fallback) == ("bread", False)
    assert [message.content for message in found.sessions[0].messages] == SESSIONS[1][1:]
    assert as_json(found)["sessions"][0]["messages"][0]["at"].startswith("20")
    assert found.lines == () and found.text == ""


async def test_sessions_are_related_by_theme_and_have_titles(memory: Memory) -> None:
    await tell(memory)
    found = await memory.search_contextual("When does the login token expire?", user_id="ana")
    related = {
        one.session_id: [other.session_id for other in one.related] for one in found.sessions
    }
    assert related["login"] == ["auth"]
    assert related.get("bread", []) == []
    summary = await memory.lookup.summary(user_id="ana", session_id="auth")
    assert summary is not None and summary.title is not None
    others = [other for one in found.sessions for other in one.related]
    (title,) = {other.title for other in others if other.session_id == "auth"}
    assert title == summary.title.text


async def test_what_was_said_in_several_sessions_is_one_statement(memory: Memory) -> None:
    await tell(memory)
    found = await memory.search_contextual("What happens when the token expires?", user_id="ana")
    (repeated,) = found.repeated
    assert "Every time the token expires" in repeated.content
    assert [one.session_id for one in repeated.said] == ["login", "auth"]


async def test_without_a_fitting_session_the_whole_memory_is_searched(memory: Memory) -> None:
    await tell(memory)
    found = await memory.search_contextual(
        "What is the serial number of the boiler?", user_id="ana", max_tokens=200
    )
    assert found.fallback and found.sessions == ()
    assert found.elsewhere[0].content == "The serial number of the boiler is 44 B 19."
    assert "No earlier conversation is about this." in found.lines[0]
    assert "44 B 19" in found.text


async def test_the_text_keeps_to_its_budget(memory: Memory) -> None:
    await tell(memory)
    count = memory.runtime.recall.tokens.count

    async def text(max_tokens: int) -> str:
        found = await memory.search_contextual(
            "When does the login token expire?", user_id="ana", max_tokens=max_tokens
        )
        return found.text

    whole = await text(1000)
    assert whole.startswith("<memory>") and whole.endswith("</memory>")
    assert "Related conversation" in whole and "Said in several conversations:" in whole
    for budget in (count(whole), 90, 60, 30, 1):
        assert count(shorter := await text(budget)) <= budget
        assert set(shorter.splitlines()) <= set(whole.splitlines())
    assert await text(1) == ""
    with pytest.raises(InvalidInput, match="max_tokens"):
        await text(0)
