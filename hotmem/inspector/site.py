"""What every page has in hand."""

import secrets
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse

from hotmem.core.loop_thread import LoopThread
from hotmem.inspector.writing import page
from hotmem.memory import Memory
from hotmem.retrieval.query import NOBODY
from hotmem.storage import queries
from hotmem.storage.inspection import Inspection
from hotmem.types.inspection import Cursor

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Site:
    """What the pages are made of.

    Attributes:
        memory: The memory, open.
        user_id: The user whose pages they are; no page takes another's name.
        zone: By whose clock times are shown, unless it is known where something was said; None is
            this machine's.
        token: The first part of every path.
        form_token: What every form holds, so that only our own pages change anything.
        lane: Where recalls are traced and plots are drawn, one after the other.
    """

    memory: Memory
    user_id: str
    zone: tzinfo | None = None
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    form_token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    lane: LoopThread = field(default_factory=lambda: LoopThread("hotmem-inspector"))

    async def rows(self) -> Inspection:
        """The user's rows."""
        storage = self.memory.runtime.storage
        user = await storage.database.read(queries.users.find, self.user_id)
        return Inspection(storage.database, user or NOBODY)

    def show(self, template: str, status: int = 200, **values: Any) -> HTMLResponse:  # noqa: ANN401 - whatever a template shows
        """A page."""
        common = {
            "root": f"/{self.token}",
            "user_id": self.user_id,
            "form_token": self.form_token,
            "zone": self.zone,
        }
        return HTMLResponse(page(template, **common, **values), status)

    def go(self, path: str) -> RedirectResponse:
        """On to another page, after a change."""
        return RedirectResponse(f"/{self.token}{path}", 303)


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
    return found(number if number < 2**63 else None)


def found(row: T | None) -> T:
    """What was looked for, if it is there and the user's.

    Raises:
        HTTPException: If it is not.
    """
    if row is None:
        raise HTTPException(404)
    return row
