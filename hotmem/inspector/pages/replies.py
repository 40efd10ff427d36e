"""Replies: recorded recalls, and one with its items and their use."""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from hotmem.inspector.changes import Site, cursor, found, key
from hotmem.inspector.pages.conversations import RECALL_WINDOW

ROWS: Final = 50


async def list_page(site: Site, request: Request) -> Response:
    """Show the list."""
    rows = await site.rows()
    return site.show("replies.html", recalls=await rows.recalls(cursor(request), ROWS))


async def detail_page(site: Site, request: Request) -> Response:
    """Show one recall."""
    rows = await site.rows()
    recall = found(await rows.recall(key(request)))
    reply = recall.session_id and await rows.reply_to(
        recall.session_id, recall.asked_at, recall.asked_at + RECALL_WINDOW
    )
    return site.show(
        "reply.html", recall=recall, items=await rows.items(recall.key), reply=reply or None
    )
