"""Parts 1 and 5 of the trial: searches of the memory and of conversations."""

from typing import Any

from eval.trial.inputs import NOW, Outcome, conversation, dated, load
from hotmem import Memory

FIRST = 3
"""A right result counts if it is among so many."""


async def search(memory: Memory, limit: int | None) -> list[Outcome]:
    """Search stored notes in words of every kind."""
    data = load("search")
    user = "search"
    names: dict[str, str] = {}
    for name, text in data["notes"].items():
        stored = await memory.store_memory(dated(text), user_id=user)
        names.setdefault(stored.id, name)
    await memory.settle()
    outcomes = []
    for query in data["queries"][:limit]:
        found = await memory.search_memory(
            query["ask"], user_id=user, options=query.get("options", {}), at=NOW
        )
        first = [names.get(one.id, "?") for one in found.results[:FIRST]]
        hits = sum(name in query["right"] for name in first)
        part = "1 search: all kinds of words" if query.get("list") else "1 search: one answer"
        outcomes.append(
            Outcome(
                part,
                f"{query['kind']}: {query['ask']}",
                hits >= (2 if query.get("list") else 1),
                ", ".join(first) or "nothing",
            )
        )
    return outcomes


async def store_conversations(memory: Memory, user: str) -> list[str]:
    """Store the twelve conversations and end them; return their ids."""
    data = load("conversations")
    for session in data["sessions"]:
        lines = session["turns"].strip().splitlines()
        for turn in conversation(user, session["id"], lines, session["days_ago"], data["speaker"]):
            await memory.remember(turn)
    await memory.settle()
    for session in data["sessions"]:
        await memory.end_session(user_id=user, session_id=session["id"])
    await memory.settle()
    return [session["id"] for session in data["sessions"]]


async def contextual(memory: Memory, limit: int | None) -> list[Outcome]:
    """Search conversations: the right one first, others on its theme, the way out, what recurs."""
    data = load("contextual")
    user = "contextual"
    await store_conversations(memory, user)
    for text in data["stored"]:
        await memory.store_memory(text, user_id=user)
    await memory.settle()
    outcomes = []
    for search in data["searches"][:limit]:
        found = await memory.search_contextual(search["ask"], user_id=user, at=NOW, max_tokens=400)
        outcomes += _judge(search, found)
        outcomes.append(
            Outcome(
                "5 contextual: titles, and a text for a prompt",
                search["ask"],
                bool(found.text) and all(one.title for one in found.sessions),
                "; ".join(one.title for one in found.sessions),
            )
        )
    return outcomes


def _judge(search: dict[str, Any], found: Any) -> list[Outcome]:  # noqa: ANN401 - ContextualResult, read as a user does
    ask = search["ask"]
    shown = ", ".join(one.session_id for one in found.sessions) or "no conversation"
    if search.get("fallback"):
        elsewhere = [one.content for one in found.elsewhere[:FIRST]]
        right = found.fallback and any(search["holds"] in text for text in elsewhere)
        got = " | ".join(elsewhere) if found.fallback else f"no way out, {shown}"
        return [Outcome("5 contextual: whole memory if no conversation fits", ask, right, got)]
    if "repeated" in search:
        listed = {
            one.content: {said.session_id for said in one.said}
            for one in found.repeated
            if search["repeated"] in one.content
        }
        right = any(set(search["in"]) <= sessions for sessions in listed.values())
        return [
            Outcome("5 contextual: recurring matter", ask, right, "; ".join(listed) or "nothing")
        ]
    first = found.sessions[0] if found.sessions else None
    right = first is not None and first.session_id in search["first"]
    outcomes = [Outcome("5 contextual: right conversation first", ask, right, shown)]
    if "related" in search and first is not None:
        linked = [one.session_id for one in first.related]
        others = set(search["related"]) - {first.session_id}
        outcomes.append(
            Outcome(
                "5 contextual: related conversation linked",
                ask,
                bool(others & set(linked)),
                ", ".join(linked) or "none",
            )
        )
    return outcomes
