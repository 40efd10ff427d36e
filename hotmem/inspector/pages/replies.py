"""What replies made of memory.

The questions that were answered with it, and one with all that was given for it.
"""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from hotmem.inspector.pages.conversations import AROUND
from hotmem.inspector.site import Site, found, key, place

ROWS: Final = 50


async def listed(site: Site, request: Request) -> Response:
    """The list."""
    rows = await site.rows()
    return site.show("replies.html", recalls=await rows.recalls(place(request), ROWS))


async def one(site: Site, request: Request) -> Response:
    """One question."""
    rows = await site.rows()
    recall = found(await rows.recall(key(request)))
    said = recall.session_id and await rows.reply_to(
        recall.session_id, recall.asked_at, recall.asked_at + AROUND
    )
    return site.show(
        "reply.html", recall=recall, items=await rows.items(recall.key), reply=said or None
    )
