"""Which path leads to which page, and what is answered where a page cannot be made."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeAlias

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route

from hotmem.core.local_server import HOSTS
from hotmem.core.logs import log
from hotmem.errors import HotMemError, InvalidInput, StoreError
from hotmem.inspector import changes
from hotmem.inspector.guard import Guard
from hotmem.inspector.pages import (
    asking,
    conversations,
    decisions,
    learning,
    memories,
    names,
    overview,
    replies,
)
from hotmem.inspector.site import Site
from hotmem.operations.actor import acting
from hotmem.types import Act, Action, Actor

STATIC: Final = Path(__file__).parent / "static"

Page: TypeAlias = Callable[[Site, Request], Awaitable[Response]]

SHOWN: Final[Mapping[str, Page]] = {
    "/": overview.show,
    "/memories": memories.listed,
    "/memories/{key:int}": memories.one,
    "/conversations": conversations.listed,
    "/conversations/{key:int}": conversations.one,
    "/turns/{key:int}": conversations.turn,
    "/names": names.listed,
    "/names/{key:int}": names.one,
    "/ask": asking.show,
    "/replies": replies.listed,
    "/replies/{key:int}": replies.one,
    "/learning": learning.show,
    "/plots/{name}.svg": learning.plot,
    "/changes": decisions.listed,
    "/merge": changes.asked_merge,
    "/forget": changes.asked_forget,
}
"""What is shown, by path."""

DONE: Final[Mapping[str, Page]] = {
    "/memories/{key:int}/edit": changes.edit,
    "/merge": changes.merge,
    "/forget": changes.forget,
    "/undo": changes.undo,
}
"""What forms do, by path."""


def build(site: Site) -> Starlette:
    """The pages as an application."""

    def answered(show: Page) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            try:
                with acting(Actor.INSPECTOR):
                    page = await show(site, request)
                    if show is not changes.forget:  # which the memory itself writes down
                        action = Action.READ if request.method in ("GET", "HEAD") else Action.CHANGE
                        await site.memory.audit(
                            Act(action, _part(request.url.path, site.token)), user_id=site.user_id
                        )
                return page
            except HTTPException:
                return _told(
                    site,
                    404,
                    "There is nothing here",
                    "It was forgotten, or it was never among what is remembered of this user.",
                )
            except InvalidInput as error:
                return _told(site, 400, "That cannot be done", str(error))
            except StoreError as error:
                return _told(site, 503, "The memory file cannot be used", str(error))
            except HotMemError as error:
                return _told(site, 500, "That did not work", str(error))
            except (
                Exception
            ) as error:  # the border at which one page that cannot be made must not end the server
                log.error(
                    "page failed",
                    path=request.url.path.removeprefix(f"/{site.token}"),
                    error=type(error).__name__,
                )
                advice = "The file may hold a value that HotMem did not write. Close this page and run: hotmem validate"
                return _told(site, 500, "This page could not be made", advice)

        return answer

    def style(_: Request) -> Response:
        return FileResponse(STATIC / "style.css", media_type="text/css")

    def icon(_: Request) -> Response:
        return FileResponse(STATIC / "icon.svg", media_type="image/svg+xml")

    async def missing(_: Request, __: Exception) -> Response:
        return _told(site, 404, "There is no such page", "Choose one of those above.")

    routes = [Route(path, answered(one), methods=["GET"]) for path, one in SHOWN.items()]
    routes += [Route(path, answered(one), methods=["POST"]) for path, one in DONE.items()]
    routes += [Route("/style.css", style), Route("/icon.svg", icon)]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await site.lane.close()

    return Starlette(
        routes=[Mount(f"/{site.token}", routes=routes)],
        middleware=[
            Middleware(Guard, token=site.token),
            Middleware(TrustedHostMiddleware, allowed_hosts=list(HOSTS), www_redirect=False),
        ],
        exception_handlers={404: missing, 405: missing},
        lifespan=lifespan,
    )


def _part(path: str, token: str) -> str:
    """Which part of the pages a path is of, without what it shows of it."""
    return path.removeprefix(f"/{token}").partition("/")[2].partition("/")[0] or "overview"


def _told(site: Site, status: int, title: str, text: str) -> Response:
    return site.show("told.html", status, title=title, text=text)
