"""The pages put together: what every page has in hand, and which path leads where."""

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path
from typing import Any, Final, TypeAlias

import structlog
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from hotmem.errors import HotMemError, InvalidInput, StoreError
from hotmem.inspector.guard import HOSTS, Guard
from hotmem.inspector.writing import page
from hotmem.lane import Lane
from hotmem.memory import Memory
from hotmem.query import NOBODY
from hotmem.store.inspection import Inspection
from hotmem.types.inspection import Cursor

log = structlog.get_logger(__name__)

STATIC: Final = Path(__file__).parent / "static"


@dataclass(frozen=True, slots=True)
class Site:
    """What the pages are made of.

    Attributes:
        memory: The memory, open.
        user_id: The user whose pages they are; no page takes another's name.
        zone: By whose clock times are shown, unless it is known where something was said; None is this machine's.
        token: The first part of every path.
        form_token: What every form holds, so that only our own pages change anything.
        lane: Where recalls are traced and plots are drawn, one after the other.
    """

    memory: Memory
    user_id: str
    zone: tzinfo | None = None
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    form_token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    lane: Lane = field(default_factory=lambda: Lane("hotmem-inspector"))

    async def rows(self) -> Inspection:
        """The user's rows."""
        store = self.memory.store
        return store.inspection(await store.user(self.user_id) or NOBODY)

    def show(self, template: str, status: int = 200, **values: Any) -> HTMLResponse:  # noqa: ANN401 - whatever a template shows
        """A page."""
        common = {"root": f"/{self.token}", "user_id": self.user_id, "form_token": self.form_token, "zone": self.zone}
        return HTMLResponse(page(template, **common, **values), status)

    def go(self, path: str) -> RedirectResponse:
        """On to another page, after a change."""
        return RedirectResponse(f"/{self.token}{path}", 303)


Page: TypeAlias = Callable[[Site, Request], Awaitable[Response]]


def place(request: Request) -> Cursor | None:
    """The place in a list that is asked for.

    Raises:
        InvalidInput: If it is none.
    """
    text = request.query_params.get("at", "")
    return Cursor.parse(text) if text else None


def key(request: Request) -> int:
    """The row number that the path names.

    Raises:
        HTTPException: If no row can have it.
    """
    number: int = request.path_params["key"]
    return found(number if number < 2**63 else None)  # type: ignore[no-any-return]


def found(row: Any) -> Any:  # noqa: ANN401 - the row, which is there
    """What was looked for, if it is there and the user's.

    Raises:
        HTTPException: If it is not.
    """
    if row is None:
        raise HTTPException(404)
    return row


def build(site: Site) -> Starlette:
    """The pages as an application."""
    from hotmem.inspector import changes
    from hotmem.inspector.pages import asking, conversations, decisions, learning, memories, names, overview, replies

    def answered(show: Page) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            try:
                return await show(site, request)
            except HTTPException:
                return _told(site, 404, "There is nothing here", "It was forgotten, or it was never among what is remembered of this user.")
            except InvalidInput as error:
                return _told(site, 400, "That cannot be done", str(error))
            except StoreError as error:
                return _told(site, 503, "The memory file cannot be used", str(error))
            except HotMemError as error:
                return _told(site, 500, "That did not work", str(error))
            except Exception as error:  # the border at which one page that cannot be made must not end the server
                log.error("page failed", path=request.url.path.removeprefix(f"/{site.token}"), error=type(error).__name__)
                advice = "The file may hold a value that HotMem did not write. Close this page and run: hotmem validate"
                return _told(site, 500, "This page could not be made", advice)

        return answer

    def style(_: Request) -> Response:
        return FileResponse(STATIC / "style.css", media_type="text/css")

    def icon(_: Request) -> Response:
        return FileResponse(STATIC / "icon.svg", media_type="image/svg+xml")

    async def missing(_: Request, __: Exception) -> Response:
        return _told(site, 404, "There is no such page", "Choose one of those above.")

    shown: dict[str, Page] = {
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
    done: dict[str, Page] = {
        "/memories/{key:int}/edit": changes.edit,
        "/merge": changes.merge,
        "/forget": changes.forget,
        "/undo": changes.undo,
    }
    routes = [Route(path, answered(one), methods=["GET"]) for path, one in shown.items()]
    routes += [Route(path, answered(one), methods=["POST"]) for path, one in done.items()]
    routes += [Route("/style.css", style), Route("/icon.svg", icon)]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await site.lane.close()

    return Starlette(
        routes=[Mount(f"/{site.token}", routes=routes)],
        middleware=[Middleware(Guard, token=site.token), Middleware(TrustedHostMiddleware, allowed_hosts=list(HOSTS), www_redirect=False)],
        exception_handlers={404: missing, 405: missing},
        lifespan=lifespan,
    )


def _told(site: Site, status: int, title: str, text: str) -> Response:
    return site.show("told.html", status, title=title, text=text)
