"""Changes: automatic decisions about memories and manual changes, with undo."""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from hotmem.errors import InvalidInput
from hotmem.inspector.changes import Site
from hotmem.tools.maintenance import DecisionsArguments, memory_decisions
from hotmem.types import DecisionAction

ROWS: Final = 200


async def list_page(site: Site, request: Request) -> Response:
    """Show the list, of one action or of all."""
    rows = await site.rows()
    action = request.query_params.get("action") or None
    if action is not None and action not in tuple(DecisionAction):
        raise InvalidInput(f"{action[:40]!r} is not an action. Choose one from the list.")
    actions = () if action is None else (DecisionAction(action),)
    decisions = (
        await memory_decisions(
            site.memory, site.user_id, DecisionsArguments(limit=ROWS, actions=actions)
        )
    ).decisions
    ids = [
        name for one in decisions for name in (*one.memory_ids, *((one.into,) if one.into else ()))
    ]
    memories = await rows.memories_by_id(ids)
    return site.show(
        "changes.html",
        decisions=decisions,
        memories=memories,
        action=action,
        rows=ROWS,
        done=request.query_params.get("done"),
    )
