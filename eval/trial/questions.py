"""Parts 7 and 8 of the trial: intents, and questions that need the conversation."""

from datetime import timedelta

from eval.trial.inputs import NOW, Outcome, conversation, load
from eval.trial.searching import FIRST, store_conversations
from hotmem import ContextBlock, Layer, Memory

SPEAKER = "Tove"
WAIT_MS = 10_000
"""The trial judges what is found, not how fast a busy machine finds it."""


async def intents(memory: Memory, limit: int | None) -> list[Outcome]:
    """Ask for things in many ways, among them overviews of conversations."""
    user = "intents"
    await store_conversations(memory, user)
    outcomes = []
    for one in load("intents")["utterances"][:limit]:
        say = one["say"]
        block = await memory.recall(
            say, user_id=user, session_id="today", at=NOW, deadline_ms=WAIT_MS
        )
        analysis = block.trace.analysis
        if analysis is None:
            outcomes.append(Outcome("7 intent", say, False, "no analysis"))
            continue
        outcomes.append(
            Outcome("7 intent", say, str(analysis.intent) in one["intent"], str(analysis.intent))
        )
        if one.get("none"):
            outcomes.append(Outcome("7 empty block if due", say, not block.items, _top(block)))
        if "holds" in one:
            right = one["holds"].lower() in block.text.lower()
            if one.get("overview"):
                right = right and Layer.SESSIONS in analysis.layers
            part = "7 overview question" if one.get("overview") else "7 answer in the block"
            outcomes.append(Outcome(part, say, right, _top(block)))
    return outcomes


def _top(block: ContextBlock, live: str = "") -> str:
    best = sorted(block.items, key=lambda item: -item.relevance)
    return " | ".join(one.text for one in best if one.session_id != live)[:300] or "empty block"


async def ambiguity(memory: Memory, limit: int | None) -> list[Outcome]:
    """Ask questions that only the conversation explains, and plain ones with the same words."""
    data = load("ambiguity")
    outcomes = []
    for place, dialogue in enumerate(data["dialogues"][:limit]):
        user = f"ambiguity-{place}"
        await _store(memory, user, data["known"])
        live = f"live-{place}"
        turns = list(conversation(user, live, dialogue["turns"], 0.01, SPEAKER))
        for turn in turns:
            await memory.remember(turn)
        await memory.settle()
        block = await memory.recall(
            dialogue["ask"],
            user_id=user,
            session_id=live,
            at=NOW + timedelta(minutes=2),
            deadline_ms=WAIT_MS,
            visible=[turn.text for turn in turns],
        )
        best = sorted(block.items, key=lambda item: -item.relevance)
        found = [dialogue["right"] in one.text for one in best if one.session_id != live]
        name = f"{turns[0].text} … {dialogue['ask']}"
        analysis = block.trace.analysis
        words = ", ".join(analysis.expansion) if analysis else ""
        got = f"[{words}] {_top(block, live)}"
        outcomes.append(Outcome("8 ambiguous: right statement first", name, any(found[:1]), got))
        outcomes.append(
            Outcome("8 ambiguous: among the first three", name, any(found[:FIRST]), got)
        )
    await _store(memory, "plain", data["known"])
    for question in data["plain"][:limit]:
        block = await memory.recall(
            question["ask"], user_id="plain", session_id="none", at=NOW, deadline_ms=WAIT_MS
        )
        analysis = block.trace.analysis
        unclear = analysis.ambiguous if analysis else ("no analysis",)
        outcomes.append(
            Outcome(
                "8 plain: not called ambiguous", question["ask"], not unclear, ", ".join(unclear)
            )
        )
    return outcomes


async def _store(memory: Memory, user: str, known: list[str]) -> None:
    for text in known:
        await memory.store_memory(text, user_id=user)
    await memory.settle()
