"""HTTP servers that only this machine can reach.

They listen on a loopback port, or on a Unix socket that only its owner may open. Every account of
the machine can connect to a port, so an application served there must authenticate its clients.
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
"""Host names to accept in requests; any other may be a DNS rebinding attack."""


def local_port(port: int) -> socket.socket:
    """Listen on a loopback port.

    Args:
        port: The port; 0 for any free port.

    Raises:
        InvalidInput: If the port is in use.
    """
    try:
        return socket.create_server((LOOPBACK, port))
    except OSError as error:
        raise InvalidInput(
            f"Port {port} is in use. Choose another with --port, or omit --port."
        ) from error


def private_socket(path: Path) -> socket.socket:
    """Listen on a Unix socket that no other account may open. The caller removes the file.

    Raises:
        InvalidInput: If the path exists or the socket cannot be created.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise InvalidInput("This system has no Unix sockets. Use a port instead: --http.")
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # Not chmod after bind: another account could connect in between.
    mask = os.umask(0o177)
    try:
        listening.bind(str(path))
        listening.listen()
    except OSError as error:
        listening.close()
        fact = (
            "exists; remove it if no server uses it, or name another"
            if os.path.lexists(path)
            else f"cannot be created ({error.strerror or error})"
        )
        raise InvalidInput(f"The socket {path} {fact}.") from error
    finally:
        os.umask(mask)
    return listening


async def serve(app: ASGIApp, listening: socket.socket) -> None:
    """Serve an application until this task is cancelled.

    Signals stay with the caller, which can release its resources after the server has stopped.
    """
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
