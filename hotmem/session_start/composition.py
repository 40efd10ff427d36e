"""Composition: as many lines as fit the token budget, the most important first."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from hotmem.models import Language
from hotmem.session_start.lasting_facts import (
    LASTING_RELATIONS,
    fact_lines,
    in_force,
    instruction_line,
)
from hotmem.session_start.material import (
    Line,
    Material,
    SessionStartRequest,
    name_lines,
    read_material,
    reading_order,
    render_lines,
)
from hotmem.session_start.plans import open_loop_lines, plan_lines
from hotmem.storage import Storage, queries
from hotmem.types import ContextBlock, Item, Trace

FACTS_BEFORE_LOOPS: Final = 3
"""Number of lasting facts that precede the open loops."""

DISABLED: Final = "The session-start block is disabled."
NOTHING_KNOWN: Final = "Nothing is known about the user."


async def compose_session_start(
    storage: Storage, language: Language, count: Callable[[str], int], request: SessionStartRequest
) -> ContextBlock:
    """Make the session-start block.

    Its trace is marked as late if facts of some turns were not extracted yet.

    Args:
        storage: The store.
        language: Parses what was said about plans.
        count: Counts the tokens of a text.
        request: The request.
    """
    if not request.max_tokens:
        return _block(request, Trace(reason=DISABLED))
    user = await storage.database.read_all(queries.users.find, request.user_id)
    if user is None:
        return _block(request, Trace(reason=NOTHING_KNOWN))
    relations = tuple(LASTING_RELATIONS)
    material = await storage.database.read(read_material, user, relations, request)
    return await asyncio.to_thread(_compose, material, language, count)


def _compose(material: Material, language: Language, count: Callable[[str], int]) -> ContextBlock:
    lines = _select(material, language)
    fitting: list[Line] = []
    text, tokens, crowded = "", 0, False
    for line in lines:
        if crowded and line.heading:
            break
        longer = render_lines([*fitting, line])
        cost = count(longer)
        if cost <= material.request.max_tokens:
            fitting.append(line)
            text, tokens = longer, cost
        elif not line.heading:
            crowded = True  # without room for all instructions there is none for anything else
    items = tuple(line.item for line in reading_order(fitting) if line.item is not None)
    reason = f"Lines in the block: {len(items)} of {len(lines)}." if text else NOTHING_KNOWN
    trace = Trace(candidates=len(lines), reason=reason, late=material.stored.pending)
    return _block(material.request, trace, text, tokens, items)


def _select(material: Material, language: Language) -> Sequence[Line]:
    """All lines, the most important first."""
    stored = material.stored
    rules = in_force(stored.rules)
    plans = plan_lines(material, language)
    facts = fact_lines(material)
    plan_turns = {turn for line in plans if line.item for turn in line.item.turn_ids}
    return [
        *(instruction_line(material, rule) for rule in rules),
        *([] if material.request.rules_only else name_lines(stored, rules)),
        *plans,
        *facts[:FACTS_BEFORE_LOOPS],
        *open_loop_lines(material, plan_turns),
        *facts[FACTS_BEFORE_LOOPS:],
    ]


def _block(
    request: SessionStartRequest,
    trace: Trace,
    text: str = "",
    tokens: int = 0,
    items: tuple[Item, ...] = (),
) -> ContextBlock:
    return ContextBlock(
        text=text,
        tokens=tokens,
        items=items,
        trace=trace,
        user_id=request.user_id,
        session_id=request.session_id,
        query="",
        at=request.at,
    )
