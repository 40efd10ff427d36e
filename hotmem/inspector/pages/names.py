"""Whom and what is spoken of: the names mentioned most and how they hang together, all names, and one."""

from datetime import UTC, datetime
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from hotmem.inspector.drawing import drawn
from hotmem.inspector.site import Site, found, key, place
from hotmem.types.inspection import MemoryFilter

IN_PICTURE: Final = 40
"""Names in the picture; more are not told apart."""

ROWS: Final = 100
BESIDE: Final = 20
MENTIONS: Final = 25


async def listed(site: Site, request: Request) -> Response:
    """The picture and the list."""
    rows, asked = await site.rows(), request.query_params
    begins, after = asked.get("begins", "").strip(), asked.get("after", "")
    names = await rows.entities(begins, after, ROWS + 1)
    first = not begins and not after
    picture = drawn(await rows.graph(IN_PICTURE)) if first else None
    more = names[ROWS - 1].name.casefold() if len(names) > ROWS else None
    return site.show("names.html", names=names[:ROWS], more=more, begins=begins, first=first, picture=picture, done=asked.get("done"))


async def one(site: Site, request: Request) -> Response:
    """One name."""
    rows = await site.rows()
    name = found(await rows.entity(key(request)))
    now = datetime.now(UTC)
    memories = await rows.memories(MemoryFilter(now, entity=name.key), None, MENTIONS)
    turns = await rows.mentioning(name.key, place(request), MENTIONS)
    return site.show("name.html", name=name, memories=memories.rows, turns=turns, beside=await rows.beside(name.key, BESIDE), now=now)
