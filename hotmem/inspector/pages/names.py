"""Whom and what is spoken of.

The names mentioned most and how they hang together, all names, and one.
"""

from datetime import UTC, datetime
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from hotmem.core.graph_layout import Canvas, draw_graph
from hotmem.inspector.site import Site, found, key, place
from hotmem.types.inspection import EntityRow

NAMES_DRAWN: Final = 40
"""Maximum names in the network."""

CANVAS: Final = Canvas()

ROWS: Final = 100
BESIDE: Final = 20
MENTIONS: Final = 25


async def listed(site: Site, request: Request) -> Response:
    """The picture and the list."""
    rows, asked = await site.rows(), request.query_params
    begins, at = asked.get("begins", "").strip(), place(request)
    names = await rows.entities(begins, at, ROWS)
    drawing, entities = None, tuple[EntityRow, ...]()
    if not begins and at is None:
        graph = await rows.graph(NAMES_DRAWN)
        entities = graph.entities
        counts = [one.turns + one.memories for one in entities]
        drawing = draw_graph(counts, graph.links, CANVAS, largest_component=True)
    return site.show(
        "names.html",
        names=names,
        begins=begins,
        drawing=drawing,
        entities=entities,
        done=asked.get("done"),
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
