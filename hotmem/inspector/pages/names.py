"""Names: the list with the network of the most frequent ones, and one name."""

from datetime import UTC, datetime
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from hotmem.core.graph_layout import Canvas, draw_graph
from hotmem.inspector.changes import Site, cursor, found, key
from hotmem.types.inspection import EntityRow

NAMES_DRAWN: Final = 40
"""Maximum names in the network."""

CANVAS: Final = Canvas()

ROWS: Final = 100
COOCCURRING: Final = 20
MENTIONS: Final = 25


async def list_page(site: Site, request: Request) -> Response:
    """Show the network and the list."""
    rows, asked = await site.rows(), request.query_params
    begins, at = asked.get("begins", "").strip(), cursor(request)
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


async def detail_page(site: Site, request: Request) -> Response:
    """Show one name."""
    rows = await site.rows()
    name = found(await rows.entity(key(request)))
    return site.show(
        "name.html",
        name=name,
        memories=await rows.memories_mentioning(name.key, MENTIONS),
        turns=await rows.turns_mentioning(name.key, cursor(request), MENTIONS),
        cooccurring=await rows.beside(name.key, COOCCURRING),
        now=datetime.now(UTC),
    )
