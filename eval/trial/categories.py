"""Parts 10, 11 and 13 of the trial: subcategories, tags and summaries."""

import re
from collections import Counter
from collections.abc import Callable

from eval.trial.inputs import NOW, Outcome, call, load
from eval.trial.searching import store_conversations
from hotmem import Memory
from hotmem.errors import HotMemError

PLACED = 45
"""75 % of the 60 statements."""

NEEDED = 5
"""Statements of a topic's six that must share a subcategory."""

_NOT_THIRD_PERSON = re.compile(r"\b(?:I|I'm|I've|I'd|me|my|mine|we|our|you|your|you're)\b", re.I)
_DANGLING = re.compile(r"(?:he|she|it|they|this|that|these|those|his|her|yes|no|so)\b", re.I)
_PLAIN_STATEMENTS = ("The ferry was late.", "An owl hoots at night.", "Lemons are yellow.")


async def subcategories(memory: Memory, limit: int | None) -> list[Outcome]:
    """File statements of ten topics, and see whether the subcategories are these topics."""
    user = "topics"
    topics = load("topics")["topics"]
    for topic in topics:
        for text in topic["say"]:
            await memory.store_memory(text, user_id=user, context={"category": topic["category"]})
    await memory.settle()
    await memory.evolve(user)
    placed: dict[str, Counter[str]] = {}
    holds: dict[str, Counter[str]] = {}
    for topic in topics:
        for text in topic["say"]:
            found = await memory.search_memory(text, user_id=user, options={"limit": 1})
            name = found.results[0].subcategory if found.results else None
            placed.setdefault(topic["name"], Counter())[name or "none"] += 1
            holds.setdefault(name or "none", Counter())[topic["name"]] += 1
    outcomes = []
    for name, names in list(placed.items())[:limit]:
        best, count = names.most_common(1)[0]
        own = best != "none" and holds[best].most_common(1)[0][0] == name
        got = ", ".join(f"{one} {number}" for one, number in names.most_common())
        outcomes.append(
            Outcome("10 subcategories: a topic is one", name, own and count >= NEEDED, got)
        )
    right = sum(
        names[one]
        for name, names in placed.items()
        for one in names
        if one != "none" and holds[one].most_common(1)[0][0] == name
    )
    got = f"{right} of {sum(names.total() for names in placed.values())} statements"
    outcomes.append(Outcome("10 subcategories: 75 % placed right", "all", right >= PLACED, got))
    for one in await memory.subcategories(user):
        got = f"{one.memories}: " + " | ".join(one.digest)
        outcomes.append(Outcome("10 names, for a person", one.name, True, got))
    return outcomes + await _edited(memory, user)


async def _edited(memory: Memory, user: str) -> list[Outcome]:
    """Rename, merge and split subcategories as a person would, and undo it."""
    part = "10 subcategories: changed by hand"
    category = "contexts"

    async def names() -> list[str]:
        return [one.name for one in await memory.subcategories(user) if one.category == category]

    async def edit(**change: object) -> None:
        await call(memory, user, "edit_subcategory", {"category": category, **change})

    async def undo() -> None:
        last = (await call(memory, user, "memory_decisions", {"limit": 1})).decisions[0]
        await call(memory, user, "undo_decision", {"decision": last.id})

    outcomes = []

    async def see(name: str, check: Callable[[list[str]], bool]) -> None:
        now = await names()
        outcomes.append(Outcome(part, name, check(now), ", ".join(now)))

    before = await names()
    if len(before) < NEEDED - 1:
        return [Outcome(part, "all", False, f"only {before}")]
    first, second, third, *_ = before
    await edit(name=first, new_name="my own name")
    await see("renamed", lambda now: "my own name" in now and first not in now)
    await memory.evolve(user)
    await see("the name stays when the category evolves", lambda now: "my own name" in now)
    await edit(name=second, merge=[third])
    await see("merged", lambda now: second in now and third not in now)
    await undo()
    await see("merging undone", lambda now: {second, third} <= set(now))
    await edit(name=second, pinned=True)
    pinned = [one.name for one in await memory.subcategories(user) if one.pinned]
    outcomes.append(Outcome(part, "pinned", second in pinned, ", ".join(pinned)))
    count = len(await names())
    try:
        await edit(name="my own name", split=True)
        await see("split", lambda now: len(now) > count)
    except HotMemError as error:
        outcomes.append(Outcome(part, "split", False, str(error)))
    return outcomes


async def tags(memory: Memory, limit: int | None) -> list[Outcome]:
    """Give tags in several spellings, and tell things whose matter is a compound."""
    data = load("tags")
    outcomes = []
    for place, group in enumerate(data["groups"][:limit]):
        user = f"tags-{place}"
        for given, text in zip(group["given"], _PLAIN_STATEMENTS, strict=False):
            await memory.store_memory(text, user_id=user, context={"tags": [given]})
        await memory.settle()
        await call(memory, user, "optimize_tags", {})
        shown = (await call(memory, user, "memory_stats", {})).tags
        wanted = 1 if group["same"] else len(group["given"])
        part = "11 tags: one for all spellings" if group["same"] else "11 tags: others stay apart"
        name = ", ".join(group["given"])
        outcomes.append(Outcome(part, name, len(shown) == wanted, ", ".join(shown)))
    for place, pair in enumerate(data["shared"][:limit]):
        user = f"shared-{place}"
        for text in pair["say"]:
            await memory.store_memory(text, user_id=user)
        await memory.settle()
        shown = (await call(memory, user, "memory_stats", {})).tags
        got = ", ".join(f"{one} {count}" for one, count in shown.items()) or "none"
        outcomes.append(
            Outcome(
                "11 tags: a shared matter is one, whole", pair["word"], pair["word"] in shown, got
            )
        )
    return outcomes


async def summaries(memory: Memory, limit: int | None) -> list[Outcome]:
    """Summarise twelve conversations; a person judges what is printed."""
    user = "summaries"
    outcomes = []
    for session in (await store_conversations(memory, user))[:limit]:
        summary = await memory.summary(user_id=user, session_id=session)
        if summary is None:
            outcomes.append(Outcome("13 summaries: third person", session, False, "no summary"))
            continue
        kinds = {
            "title": (summary.title,) if summary.title else (),
            "told": summary.narrative,
            "decided": summary.decisions,
            "open": summary.open_loops,
        }
        texts = [one.text for sentences in kinds.values() for one in sentences]
        right = bool(texts) and not any(
            _NOT_THIRD_PERSON.search(text) or _DANGLING.match(text) for text in texts
        )
        got = " // ".join(
            f"{kind}: " + " | ".join(one.text for one in sentences)
            for kind, sentences in kinds.items()
            if sentences
        )
        outcomes.append(
            Outcome("13 summaries: third person, no dangling pronoun", session, right, got)
        )
        outcomes.append(
            Outcome("13 summaries: has a title", session, summary.title is not None, "")
        )
    opening = await memory.opening(user_id=user, at=NOW)
    outcomes.append(Outcome("13 opening block, for a person", "all", True, opening.text))
    return outcomes
