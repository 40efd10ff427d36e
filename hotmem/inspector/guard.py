"""Who may see the pages.

A browser on this machine that knows the address, and no page of any other site through it.
"""

import secrets
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hotmem.errors import InvalidInput

LARGEST_FORM: Final = 65_536
"""Bytes of a form that are read."""

POLICY: Final = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
"""Nothing is loaded but our own style and pictures, no script runs, and no form leaves."""

HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}

CLOSED: Final = "This address is not complete. Open the one that `hotmem inspect` printed.\n"


class Guard:
    """Lets through what comes by the printed address, and puts the policy on every answer.

    Args:
        app: The pages.
        token: The first part of every path.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
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
            return PlainTextResponse(CLOSED, 403)
        if scope["method"] != "POST":
            return None
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{headers.get('host')}":
            return PlainTextResponse("Another site's page may not change anything here.\n", 403)
        length = headers.get("content-length", "")
        if not length.isdecimal() or int(length) > LARGEST_FORM:
            return PlainTextResponse(f"A form has at most {LARGEST_FORM:,} bytes.\n", 413)
        return None


async def form(request: Request, token: str) -> dict[str, str]:
    """The fields of a form that one of our own pages sent.

    Args:
        request: The request.
        token: What our forms hold.

    Raises:
        InvalidInput: If the form is not one of ours.
    """
    sent = await request.form()
    fields = {name: value for name, value in sent.items() if isinstance(value, str)}
    if not secrets.compare_digest(fields.pop("form_token", "").encode(), token.encode()):
        raise InvalidInput(
            "This form is not one of this page's, or the page was opened before a restart. Open it again, then send it."
        )
    return fields
