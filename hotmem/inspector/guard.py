"""Access control of the inspector: a secret address, and protection from other sites."""

import secrets
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hotmem.errors import InvalidInput

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
