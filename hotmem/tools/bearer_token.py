"""BearerAuth token authentication of the MCP server over HTTP."""

import secrets
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from hotmem.errors import InvalidInput

MIN_TOKEN: Final = 20
"""Minimum characters of a token; generated tokens have 43."""

UNAUTHORIZED: Final = "Send the server's token: Authorization: Bearer TOKEN\n"


class BearerAuth:
    """ASGI middleware that answers requests without the token with status 401.

    Args:
        app: Protected application.
        token: The token.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        allowed = scope["type"] == "lifespan" or (
            scope["type"] == "http" and self._has_token(scope)
        )
        await (
            self._app
            if allowed
            else PlainTextResponse(UNAUTHORIZED, 401, {"WWW-Authenticate": "Bearer"})
        )(scope, receive, send)

    def _has_token(self, scope: Scope) -> bool:
        given = Headers(scope=scope).getlist("authorization")
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        return scheme.casefold() == "bearer" and secrets.compare_digest(
            token.strip().encode(), self._token
        )


def new_token() -> str:
    """Return a new random token."""
    return secrets.token_urlsafe(32)


def check_token(token: str) -> str:
    """Return the token unchanged.

    Raises:
        InvalidInput: If it is too short or cannot be sent in a header.
    """
    if len(token) < MIN_TOKEN or not (token.isascii() and token.isprintable()) or " " in token:
        raise InvalidInput(
            f"HOTMEM_MCP_TOKEN needs at least {MIN_TOKEN} ASCII characters without spaces. "
            "Without it, a new token is generated."
        )
    return token
