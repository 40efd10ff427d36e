"""Changes: automatic decisions about memories and manual changes, with undo."""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from hotmem.inspector.site import Site
from hotmem.storage.queries.decisions import UNDOABLE
from hotmem.tools.maintenance import DecisionsArguments, memory_decisions

ROWS: Final = 200


async def list_page(site: Site, request: Request) -> Response:
    """Show the list."""
    rows = await site.rows()
    decisions = (
        await memory_decisions(site.memory, site.user_id, DecisionsArguments(limit=ROWS))
    ).decisions
    ids = [
        name for one in decisions for name in (*one.memory_ids, *((one.into,) if one.into else ()))
    ]
    memories = await rows.memories_by_id(ids)
    return site.show(
        "changes.html",
        decisions=decisions,
        memories=memories,
        undoable=UNDOABLE,
        rows=ROWS,
        done=request.query_params.get("done"),
    )
