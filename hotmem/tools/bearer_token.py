"""Who may call tools by HTTP: whoever has the server's token."""

import secrets
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from hotmem.errors import InvalidInput

SHORTEST: Final = 20
"""Characters of a token at least; one that is made has 43."""

CLOSED: Final = "Send the server's token: Authorization: Bearer TOKEN\n"


class Bearer:
    """Lets requests with the token through and answers any other with 401.

    Args:
        app: What is guarded.
        token: The token.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        allowed = scope["type"] == "lifespan" or (
            scope["type"] == "http" and self._has_token(scope)
        )
        await (
            self._app if allowed else PlainTextResponse(CLOSED, 401, {"WWW-Authenticate": "Bearer"})
        )(scope, receive, send)

    def _has_token(self, scope: Scope) -> bool:
        given = Headers(scope=scope).getlist("authorization")
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        return scheme.casefold() == "bearer" and secrets.compare_digest(
            token.strip().encode(), self._token
        )


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(32)


def checked_token(token: str) -> str:
    """A token that was given, unchanged.

    Raises:
        InvalidInput: If it is too short, or cannot stand in a header.
    """
    if len(token) < SHORTEST or not (token.isascii() and token.isprintable()) or " " in token:
        raise InvalidInput(
            f"HOTMEM_MCP_TOKEN needs at least {SHORTEST} letters, digits and signs without spaces. Leave it out, and one is made."
        )
    return token
