"""Whom and what is spoken of.

The names mentioned most and how they hang together, all names, and one.
"""

from datetime import UTC, datetime
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from hotmem.inspector.drawing import drawn
from hotmem.inspector.site import Site, found, key, place

IN_PICTURE: Final = 40
"""Names in the picture; more are not told apart."""

ROWS: Final = 100
BESIDE: Final = 20
MENTIONS: Final = 25


async def listed(site: Site, request: Request) -> Response:
    """The picture and the list."""
    rows, asked = await site.rows(), request.query_params
    begins, at = asked.get("begins", "").strip(), place(request)
    names = await rows.entities(begins, at, ROWS)
    picture = drawn(await rows.graph(IN_PICTURE)) if not begins and at is None else None
    return site.show(
        "names.html", names=names, begins=begins, picture=picture, done=asked.get("done")
    )


async def one(site: Site, request: Request) -> Response:
    """One name."""
    rows = await site.rows()
    name = found(await rows.entity(key(request)))
    return site.show(
        "name.html",
        name=name,
        memories=await rows.memories_mentioning(name.key, MENTIONS),
        turns=await rows.turns_mentioning(name.key, place(request), MENTIONS),
        beside=await rows.beside(name.key, BESIDE),
        now=datetime.now(UTC),
    )
