"""Parts 2 to 4 of the trial: conflicts, advice, decisions and undoing."""

from datetime import timedelta
from typing import Any

from eval.trial.inputs import NOW, Outcome, call, dated, known, load, tell
from hotmem import Memory
from hotmem.errors import HotMemError
from hotmem.types import StoredMemory
from hotmem.types.vocabulary import DecisionAction


async def conflicts(memory: Memory, limit: int | None) -> list[Outcome]:
    """State two things that contradict each other, or only seem to."""
    outcomes = []
    for place, pair in enumerate(load("conflicts")["pairs"][:limit]):
        user = f"conflict-{place}"
        name = f"{pair['way']}: {pair['first']} / {pair['then']}"
        found = await _state(memory, user, pair)
        if pair["advice"] == "none":
            outcomes.append(
                Outcome("2 conflicts: none where there is none", name, not found, ", ".join(found))
            )
            continue
        right = any(pair["advice"] in ("any", one) for one in found)
        outcomes.append(Outcome("2 conflicts: noticed", name, right, ", ".join(found) or "nothing"))
        if "conflict" in found:
            advice = (await call(memory, user, "discover_memory_tools", {})).advice
            listed = [one.text for one in advice if one.about == "conflict"]
            outcomes.append(
                Outcome("2 conflicts: open ones listed", name, bool(listed), " | ".join(listed))
            )
        block = await memory.recall(pair["ask"], user_id=user, deadline_ms=10_000)
        plain = [
            one.text
            for one in block.items
            if pair["old"] in one.text and pair["new"] not in one.text and one.valid_until is None
        ]
        outcomes.append(
            Outcome(
                "2 conflicts: new value in the block, old one absent or marked",
                name,
                pair["new"] in block.text and not plain,
                "old without a mark: " + " | ".join(plain) if plain else _lines(block.text),
            )
        )
    return outcomes


async def _state(memory: Memory, user: str, pair: dict[str, Any]) -> list[str]:
    if pair["way"] == "stored":
        old = await memory.store_memory(pair["first"], user_id=user)
        await memory.settle()
        new = await memory.store_memory(pair["then"], user_id=user)
        await memory.settle()
        stated = new.recommendations.conflicts
        return [str(one.advice) for one in stated if (one.id, one.old_id) == (new.id, old.id)]
    turns = await tell(memory, user, [pair["first"], pair["then"]])
    states = [
        _state_of(one)
        for one in await memory.memories(user, past=True)
        if turns[0] in one.turn_ids and turns[1] not in one.turn_ids
    ]
    return [state for state in states if state != "holds"]


def _state_of(one: StoredMemory) -> str:
    if one.valid_until is not None and one.valid_until <= NOW + timedelta(hours=1):
        return "update"
    return "holds" if one.doubted_at is None else "conflict"


def _lines(text: str) -> str:
    return " | ".join(text.splitlines()[2:-1])


async def advice(memory: Memory, limit: int | None) -> list[Outcome]:
    """See what `discover_memory_tools` advises, and make the first call of it."""
    outcomes = []
    for place, case in enumerate(load("discover")["cases"][:limit]):
        user = f"discover-{place}"
        ids = await _fill(memory, user, case)
        given = (await call(memory, user, "discover_memory_tools", {})).advice
        shown = " | ".join(f"{one.about}: {one.text}" for one in given) or "nothing"
        if case.get("none"):
            outcomes.append(Outcome("3 advice: none due", case["name"], not given, shown))
            continue
        due = [
            one
            for one in given
            if any(word in f"{one.about} {one.text}".lower() for word in case["expect"])
            and {ids[number] for number in case.get("holds", ())} <= set(one.memory_ids)
        ]
        fewer = len(await memory.memories(user)) < len(ids)
        done = case.get("or_done", False) and (fewer or bool(await memory.subcategories(user)))
        outcomes.append(
            Outcome("3 advice: right one given", case["name"], bool(due) or done, shown)
        )
        if due and due[0].calls:
            first = due[0].calls[0]
            await _make(memory, user, first)
            again = (await call(memory, user, "discover_memory_tools", {})).advice
            gone = all((one.about, one.text) != (due[0].about, due[0].text) for one in again)
            outcomes.append(
                Outcome("3 advice: its call settles it", case["name"], gone, first.tool)
            )
    return outcomes


async def _make(memory: Memory, user: str, advised: Any) -> None:  # noqa: ANN401 - a call as advice has it
    result = await call(memory, user, advised.tool, advised.arguments)
    if confirmation := getattr(result, "confirmation", None):
        await call(memory, user, advised.tool, {**advised.arguments, "confirmation": confirmation})
    await memory.settle()


async def _fill(memory: Memory, user: str, case: dict[str, Any]) -> list[str]:
    """Store or tell what a case holds; return the ids of the memories in its order, "" for none."""
    if said := case.get("say"):
        turns = await tell(memory, user, said, case.get("days_ago", 20))
        every = await memory.memories(user, past=True)
        return [next((one.id for one in every if turn in one.turn_ids), "") for turn in turns]
    ids = []
    for place, text in enumerate(case["store"]):
        context = dict(case.get("context_all") or case.get("context", [{}] * 99)[place])
        if (by := context.pop("expires", None)) is not None:
            context["expires_at"] = NOW + timedelta(days=by)
        stored = await memory.store_memory(dated(text), user_id=user, context=context)
        await memory.settle()
        ids.append(stored.id)
    return ids


async def decisions(memory: Memory, limit: int | None) -> list[Outcome]:
    """See which decision tells of what happened, and what undoing it brings back."""
    outcomes = []
    for place, case in enumerate(load("audit")["cases"][:limit]):
        user = f"audit-{place}"
        ids = await _fill(memory, user, case)
        before = await _look(memory, user)
        await _change(memory, user, case, ids)
        wanted = [DecisionAction(one) for one in case["action"].split(" or ")]
        made = (await call(memory, user, "memory_decisions", {"actions": wanted})).decisions
        outcomes.append(
            Outcome(
                "4 decisions: listed with a reason",
                case["name"],
                any(one.reason for one in made),
                " | ".join(f"{one.action}: {one.reason}" for one in made) or "no decision",
            )
        )
        if made:
            chosen = made[-1] if case["action"] == "filed" else made[0]
            right, got = await _undo(memory, user, case, chosen.id, before)
            outcomes.append(Outcome("4 decisions: undone", case["name"], right, got))
    return outcomes


async def _look(memory: Memory, user: str) -> tuple[dict[str, str], list[str]]:
    every = await memory.memories(user, past=True)
    stats = await call(memory, user, "memory_stats", {})
    return {one.id: f"{one.text} {one.category} {one.importance}" for one in every}, sorted(
        stats.tags
    )


async def _change(memory: Memory, user: str, case: dict[str, Any], ids: list[str]) -> None:
    if "edit" in case:
        await call(memory, user, "edit_memory", {"id": ids[0], **case["edit"]})
    if case.get("merge"):
        await call(memory, user, "merge_memories", {"into": ids[0], "ids": ids[1:]})
    if case.get("tags"):
        await call(memory, user, "optimize_tags", {})
    await memory.settle()


async def _undo(
    memory: Memory,
    user: str,
    case: dict[str, Any],
    decision: str,
    before: tuple[dict[str, str], list[str]],
) -> tuple[bool, str]:
    try:
        undone = await call(memory, user, "undo_decision", {"decision": decision})
    except HotMemError as error:
        return False, f"refused: {error}"
    await memory.settle()
    stand = await known(memory, user, case["word"])
    got = " | ".join(one.text for one in stand) or "no memory"
    match case["undone"]:
        case "gone":
            found = await memory.search_memory(case["ask"], user_id=user)
            right = not stand and all(case["word"] not in one.content for one in found.results)
        case "gone and back":
            await call(memory, user, "undo_decision", {"decision": undone.decision})
            back = await memory.search_memory(case["ask"], user_id=user)
            right = not stand and any(case["word"] in one.content for one in back.results)
            got = " | ".join(one.content for one in back.results) or "not back"
        case "no memory":
            right = not stand
        case "holds":
            right = any(one.valid_until is None and one.doubted_at is None for one in stand)
        case "both":
            right = len(stand) > 1
        case _:
            after = await _look(memory, user)
            right = after == before
            got = got if right else f"before {before}, after {after}"
    return right, got
