"""Form actions of the inspector, by the same tools as elsewhere.

Deletions, which cannot be undone, need a confirmation.
"""

import contextlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeVar

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hotmem.core.threads import LoopThread
from hotmem.errors import DeletionChanged, InvalidInput
from hotmem.inspector.rendering import render_page
from hotmem.memory import Memory
from hotmem.operations.requests import checked
from hotmem.retrieval.query import NOBODY
from hotmem.storage import queries
from hotmem.storage.database import OfUser
from hotmem.storage.inspection import Inspection, conversations, statements
from hotmem.tools.editing import (
    EditArguments,
    EditSubcategoryArguments,
    edit_memory,
    edit_subcategory,
)
from hotmem.tools.maintenance import MergeArguments, UndoArguments, merge_memories, undo_decision
from hotmem.types import Leftovers
from hotmem.types.inspection import Cursor

MAX_FORM: Final = 65_536
"""Maximum bytes of a form."""

POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""Content security policy: own styles and images only, no scripts, forms only to this server."""

HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}

FORBIDDEN: Final = "This address is incomplete. Open the one that `hotmem inspect` printed.\n"


class Guard:
    """ASGI middleware that checks the secret path and adds security headers to responses.

    Args:
        app: The pages.
        token: Secret first segment of every path.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        refused = self._refused(scope)
        await (self._app if refused is None else refused)(scope, receive, sent)

    def _refused(self, scope: Scope) -> PlainTextResponse | None:
        token = scope["path"].lstrip("/").partition("/")[0].encode()
        if not secrets.compare_digest(token, self._token):
            return PlainTextResponse(FORBIDDEN, 403)
        if scope["method"] != "POST":
            return None
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{headers.get('host')}":
            return PlainTextResponse("Forms of other sites are not accepted.\n", 403)
        length = headers.get("content-length", "")
        if not length.isdecimal() or int(length) > MAX_FORM:
            return PlainTextResponse(f"A form has at most {MAX_FORM:,} bytes.\n", 413)
        return None


async def form(request: Request, token: str) -> dict[str, str]:
    """Return the fields of a form, after checking its token.

    Args:
        request: The request.
        token: Secret form token.

    Raises:
        InvalidInput: If the token is wrong.
    """
    sent = await request.form()
    fields = {name: value for name, value in sent.items() if isinstance(value, str)}
    if not secrets.compare_digest(fields.pop("form_token", "").encode(), token.encode()):
        raise InvalidInput(
            "The form has no valid token; the page may have been opened before a restart. "
            "Open the page again, then submit the form."
        )
    return fields


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
        worker: Thread that ranks candidates.
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


REASON: Final = "by hand, in the inspector"


class Deletable(NamedTuple):
    """A row that can be deleted.

    Attributes:
        read: Reads it by its number.
        argument: The argument of `Memory.forget` that names it.
        name: Its value for a row.
        page: The page that is shown after the deletion.
    """

    read: OfUser[[int], Any]
    argument: str
    name: Callable[[Any], str]
    page: str


DELETABLE: Final = {
    "memory": Deletable(statements.memory, "memory_id", attrgetter("row.id"), "/memories"),
    "conversation": Deletable(
        conversations.session, "session_id", attrgetter("id"), "/conversations"
    ),
    "name": Deletable(statements.entity, "entity", attrgetter("name"), "/names"),
}
"""What can be deleted besides everything, by its name in the forms."""


async def edit(site: Site, rows: Inspection, request: Request) -> Response:
    """Edit a memory."""
    fields = await form(request, site.form_token)
    memory = found(await rows.read(statements.memory, key(request)))
    changes: dict[str, Any] = {"id": memory.row.id, "reason": REASON}
    changes |= {
        name: fields[name]
        for name in ("content", "category", "kind", "importance", "note")
        if name in fields
    }
    if (
        "tags" in fields
        and (tags := tuple(tag.strip() for tag in fields["tags"].split(",") if tag.strip()))
        != memory.tags
    ):
        changes["tags"] = tags
    if fields.get("until"):
        changes["expires_at"] = _date(fields["until"], site.zone)
    elif "holds" in fields:
        changes["holds"] = fields["holds"] == "yes"
    edited = await edit_memory(site.memory, site.user_id, checked(EditArguments, changes))
    row = (await rows.read(statements.by_names, [edited.id]))[edited.id]
    return site.go(f"/memories/{row.key}?done={'edited' if edited.changed else 'unchanged'}")


async def confirm_merge(site: Site, rows: Inspection, request: Request) -> Response:
    """Ask which of the selected memories to keep."""
    memories = await rows.read(statements.by_keys, row_numbers(request.query_params.getlist("key")))
    if len(memories) < 2:
        raise InvalidInput("Select at least two memories that state the same, then press “Merge”.")
    return site.show("merge.html", memories=memories)


async def merge(site: Site, rows: Inspection, request: Request) -> Response:
    """Merge memories into one."""
    fields = await form(request, site.form_token)
    keys = row_numbers(fields.get("keys", "").split(","))
    memories = {row.key: row for row in await rows.read(statements.by_keys, keys)}
    (into,) = [row for row in memories.values() if str(row.key) == fields.get("into")] or [
        found(None)
    ]
    ids = tuple(row.id for row in memories.values() if row is not into)
    await merge_memories(
        site.memory,
        site.user_id,
        checked(MergeArguments, {"into": into.id, "ids": ids, "reason": REASON}),
    )
    return site.go(f"/memories/{into.key}?done=merged")


async def confirm_forget(site: Site, rows: Inspection, request: Request) -> Response:
    """Show what would be deleted, and ask for confirmation."""
    what, number = request.query_params.get("what", ""), request.query_params.get("key", "")
    thing, deletion = await _target(rows, what, number)
    preview = await site.memory.forget(user_id=site.user_id, dry_run=True, **deletion)
    return site.show("forget.html", what=what, key=number, thing=thing, preview=preview)


async def forget(site: Site, rows: Inspection, request: Request) -> Response:
    """Delete a memory, a conversation, a name or everything, as it was shown."""
    fields = await form(request, site.form_token)
    what = fields.get("what", "")
    _, deletion = await _target(rows, what, fields.get("key", ""))
    if what == "everything" and fields.get("typed") != site.user_id:
        raise InvalidInput(
            f"Nothing was deleted. To delete everything, type {site.user_id} into the field."
        )
    preview = await site.memory.forget(user_id=site.user_id, dry_run=True, **deletion)
    if fields.get("fingerprint") != preview.fingerprint:
        raise DeletionChanged(
            "Nothing was deleted: what matches has changed since the page was shown. Go back, "
            "reload the page, and confirm again."
        )
    receipt = await site.memory.forget(user_id=site.user_id, confirmed=preview.ids, **deletion)
    page = DELETABLE[what].page if what in DELETABLE else "/"
    read = receipt.leftovers is Leftovers.JOURNAL
    return site.go(f"{page}?done={'forgotten_read' if read else 'forgotten'}")


async def undo(site: Site, _: Inspection, request: Request) -> Response:
    """Undo a decision."""
    fields = await form(request, site.form_token)
    await undo_decision(
        site.memory, site.user_id, checked(UndoArguments, {"decision": fields.get("decision", "")})
    )
    return site.go("/changes?done=undone")


async def edit_topic(site: Site, _: Inspection, request: Request) -> Response:
    """Rename, merge, split, pin or unpin a subcategory."""
    fields = await form(request, site.form_token)
    category, name = fields.get("category", ""), fields.get("name", "")
    changes: dict[str, dict[str, Any]] = {
        "rename": {"name": name, "new_name": fields.get("new_name", "")},
        "merge": {"name": fields.get("into", ""), "merge": (name,)},
        "split": {"name": name, "split": True},
        "pin": {"name": name, "pinned": True},
        "unpin": {"name": name, "pinned": False},
    }
    change = found(changes.get(fields.get("change", "")))
    arguments = checked(EditSubcategoryArguments, {"category": category, **change})
    await edit_subcategory(site.memory, site.user_id, arguments)
    return site.go("/subcategories?done=regrouped")


async def _target(rows: Inspection, what: str, number: str) -> tuple[Any, dict[str, Any]]:
    """The row to delete, if it exists and belongs to the user, and the arguments of `forget`."""
    if what == "everything":
        return await rows.read(conversations.totals), {"everything": True}
    one, numbers = found(DELETABLE.get(what)), row_numbers([number])
    row = found(await rows.read(one.read, numbers[0]) if numbers else None)
    return row, {one.argument: one.name(row)}


def row_numbers(texts: list[str]) -> list[int]:
    """The row numbers among texts of a form or an address, each once."""
    return [
        int(text)
        for text in dict.fromkeys(texts)
        if text.isascii() and text.isdecimal() and len(text) < 19
    ]


def _date(text: str, zone: tzinfo | None) -> datetime:
    """Return the start of a day in the time zone of the page.

    Raises:
        InvalidInput: If the text is not a date.
    """
    with contextlib.suppress(ValueError, OverflowError):
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=zone).astimezone(zone)
    raise InvalidInput(f"{text[:40]!r} is not a date. Write it as 2026-12-31.")
