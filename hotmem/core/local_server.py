"""Serves pages and tools to this machine alone.

On a port of the loopback, or on a Unix socket that only its owner may open.

Any account of the machine can connect to a port, so what is served there has to ask for a secret of
its own.
"""

import asyncio
import os
import socket
from contextlib import nullcontext
from pathlib import Path
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from hotmem.errors import InvalidInput

LOOPBACK: Final = "127.0.0.1"
HOSTS: Final = (LOOPBACK, "localhost")
"""Names that a browser may call this machine by; any other is another site's name that was made
to lead here."""


def local_port(port: int) -> socket.socket:
    """A listening port of this machine.

    Args:
        port: The port; 0 is any that is free.

    Raises:
        InvalidInput: If it is taken.
    """
    try:
        return socket.create_server((LOOPBACK, port))
    except OSError as error:
        raise InvalidInput(
            f"Port {port} is taken. Choose another with --port, or leave it out."
        ) from error


def private_socket(path: Path) -> socket.socket:
    """A listening Unix socket that no other account may open. Whoever made it removes it.

    Raises:
        InvalidInput: If it cannot be made, or something is there.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise InvalidInput("This system has no Unix sockets. Use a port instead: --http.")
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(
        0o177
    )  # from the first moment: between bind and chmod another account could connect
    try:
        listening.bind(str(path))
        listening.listen()
    except OSError as error:
        listening.close()
        fact = (
            "exists; remove it if no server uses it, or name another"
            if os.path.lexists(path)
            else f"cannot be made ({error.strerror or error})"
        )
        raise InvalidInput(f"The socket {path} {fact}.") from error
    finally:
        os.umask(mask)
    return listening


async def serve(app: ASGIApp, listening: socket.socket) -> None:
    """Serves an application until this task is cancelled, as by Control-C, so that the memory is closed after it."""
    with listening:
        server = uvicorn.Server(
            uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
        )
        object.__setattr__(server, "capture_signals", nullcontext)
        try:
            await server.serve([listening])
        except asyncio.CancelledError:
            await server.shutdown()
            raise
