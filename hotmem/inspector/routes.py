"""Routes of the inspector, and its error pages."""

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
from hotmem.inspector.changes import Guard, Site
from hotmem.inspector.pages import asking, learning, memories
from hotmem.operations.results import acting
from hotmem.storage.inspection import Inspection
from hotmem.types import Act, Action, Actor

STATIC: Final = Path(__file__).parent / "static"

Page: TypeAlias = Callable[[Site, Inspection, Request], Awaitable[Response]]

PAGES: Final[Mapping[str, Page]] = {
    "/": memories.overview_page,
    "/memories": memories.list_page,
    "/memories/{key:int}": memories.detail_page,
    "/conversations": memories.conversation_list,
    "/conversations/{key:int}": memories.conversation_page,
    "/turns/{key:int}": memories.turn_page,
    "/subcategories": memories.page,
    "/names": memories.name_list,
    "/names/{key:int}": memories.name_page,
    "/ask": asking.page,
    "/replies": memories.reply_list,
    "/replies/{key:int}": memories.reply_page,
    "/learning": learning.page,
    "/changes": memories.decision_list,
    "/merge": changes.confirm_merge,
    "/forget": changes.confirm_forget,
}
"""Pages by path."""

ACTIONS: Final[Mapping[str, Page]] = {
    "/memories/{key:int}/edit": changes.edit,
    "/merge": changes.merge,
    "/forget": changes.forget,
    "/undo": changes.undo,
    "/subcategories": changes.edit_topic,
}
"""Form actions by path."""


def build(site: Site) -> Starlette:
    """Create the application."""

    def answered(show: Page) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            try:
                with acting(Actor.INSPECTOR):
                    page = await show(site, await site.rows(), request)
                    if show is not changes.forget:  # the memory logs it itself
                        action = Action.READ if request.method in ("GET", "HEAD") else Action.CHANGE
                        await site.memory.audit(
                            Act(action, _section(request.url.path, site.token)),
                            user_id=site.user_id,
                        )
                return page
            except HTTPException:
                return _message(
                    site,
                    404,
                    "Not found",
                    "It was deleted, or it does not belong to this user.",
                )
            except InvalidInput as error:
                return _message(site, 400, "Invalid request", str(error))
            except StoreError as error:
                return _message(site, 503, "The memory file cannot be used", str(error))
            except HotMemError as error:
                return _message(site, 500, "Error", str(error))
            except Exception as error:  # an error on one page must not end the server
                log.error(
                    "page failed",
                    path=request.url.path.removeprefix(f"/{site.token}"),
                    error=type(error).__name__,
                )
                advice = (
                    "The file may contain invalid values. Close this page and run: hotmem validate"
                )
                return _message(site, 500, "Internal error", advice)

        return answer

    def style(_: Request) -> Response:
        return FileResponse(STATIC / "style.css", media_type="text/css")

    def icon(_: Request) -> Response:
        return FileResponse(STATIC / "icon.svg", media_type="image/svg+xml")

    async def missing(_: Request, __: Exception) -> Response:
        return _message(site, 404, "Page not found", "Choose a page from the menu.")

    routes = [Route(path, answered(one), methods=["GET"]) for path, one in PAGES.items()]
    routes += [Route(path, answered(one), methods=["POST"]) for path, one in ACTIONS.items()]
    routes += [Route("/style.css", style), Route("/icon.svg", icon)]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await site.worker.close()

    return Starlette(
        routes=[Mount(f"/{site.token}", routes=routes)],
        middleware=[
            Middleware(Guard, token=site.token),
            Middleware(TrustedHostMiddleware, allowed_hosts=list(HOSTS), www_redirect=False),
        ],
        exception_handlers={404: missing, 405: missing},
        lifespan=lifespan,
    )


def _section(path: str, token: str) -> str:
    """Return the first segment of a path, for the audit log."""
    return path.removeprefix(f"/{token}").partition("/")[2].partition("/")[0] or "overview"


def _message(site: Site, status: int, title: str, text: str) -> Response:
    return site.show("message.html", status, title=title, text=text)
