"""Subcategories: the topics of each category, with forms to rename, merge, split and pin them."""

from itertools import groupby

from starlette.requests import Request
from starlette.responses import Response

from hotmem.inspector.site import Site


async def page(site: Site, request: Request) -> Response:
    """Show the page."""
    known = await site.memory.subcategories(site.user_id)
    return site.show(
        "subcategories.html",
        categories=[
            (category, list(own)) for category, own in groupby(known, lambda one: one.category)
        ],
        done=request.query_params.get("done"),
    )
