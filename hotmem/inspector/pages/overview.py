"""Overview: counts, benefit, tasks, and the latest memories and conversations."""

from datetime import UTC, datetime
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from hotmem.inspector.changes import Site
from hotmem.inspector.pages.learning import latest_month
from hotmem.types.inspection import MemoryFilter

LATEST: Final = 8
"""Memories and conversations shown."""


async def page(site: Site, request: Request) -> Response:
    """Show the page."""
    rows = await site.rows()
    latest = await rows.memories(MemoryFilter(datetime.now(UTC), holds=True), None, LATEST)
    sessions = await rows.sessions(None, LATEST)
    return site.show(
        "overview.html",
        totals=await rows.totals(),
        helped=await latest_month(rows),
        memories=latest.rows,
        sessions=sessions.rows,
        done=request.query_params.get("done"),
    )
