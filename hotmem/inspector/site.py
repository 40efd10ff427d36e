"""State and helpers shared by all pages."""

import secrets
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse

from hotmem.core.loop_thread import LoopThread
from hotmem.inspector.rendering import render_page
from hotmem.memory import Memory
from hotmem.retrieval.query import NOBODY
from hotmem.storage import queries
from hotmem.storage.inspection import Inspection
from hotmem.types.inspection import Cursor

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Site:
    """State of the inspector.

    Attributes:
        memory: The open memory.
        user_id: User whose data is shown; pages never take another user ID.
        zone: Time zone of times without their own; None is that of this machine.
        token: Secret first segment of every path.
        form_token: Secret field of every form, against cross-site request forgery.
        worker: Thread that ranks candidates and draws plots, one after the other.
    """

    memory: Memory
    user_id: str
    zone: tzinfo | None = None
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    form_token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    worker: LoopThread = field(default_factory=lambda: LoopThread("hotmem-inspector"))

    async def rows(self) -> Inspection:
        """Return the queries for the data of the user."""
        database = self.memory.runtime.database
        user = await database.read_all(queries.users.find, self.user_id)
        return Inspection(database, user or NOBODY)

    def show(self, template: str, status: int = 200, **values: Any) -> HTMLResponse:  # noqa: ANN401 - whatever a template shows
        """Render a page."""
        common = {
            "root": f"/{self.token}",
            "user_id": self.user_id,
            "form_token": self.form_token,
            "zone": self.zone,
        }
        return HTMLResponse(render_page(template, **common, **values), status)

    def go(self, path: str) -> RedirectResponse:
        """Redirect to a page after a change."""
        return RedirectResponse(f"/{self.token}{path}", 303)


def cursor(request: Request) -> Cursor | None:
    """Return the cursor of a list page.

    Raises:
        InvalidInput: If it is malformed.
    """
    text = request.query_params.get("at", "")
    return Cursor.parse(text) if text else None


def key(request: Request) -> int:
    """Return the row number in the path.

    Raises:
        HTTPException: If it exceeds the range of row numbers.
    """
    number: int = request.path_params["key"]
    return found(number if number < 2**63 else None)


def found(row: T | None) -> T:
    """Return the row, or answer with status 404.

    Raises:
        HTTPException: If there is no row.
    """
    if row is None:
        raise HTTPException(404)
    return row
