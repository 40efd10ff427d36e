"""Serves the pages on this machine alone."""

from datetime import tzinfo

from hotmem.cli import console
from hotmem.core import local_server
from hotmem.errors import InvalidInput
from hotmem.inspector.routes import build
from hotmem.inspector.site import Site
from hotmem.memory import Memory
from hotmem.storage import queries
from hotmem.storage.inspection import Inspection
from hotmem.text.timezones import parse_zone


async def serve(memory: Memory, user_id: str, port: int, zone: tzinfo | None = None) -> None:
    """Serves until the process is told to stop.

    Args:
        memory: The memory, open.
        user_id: Whose pages.
        port: The port; 0 is any that is free.
        zone: Where the user is, if no turn tells; None is this machine's zone.

    Raises:
        InvalidInput: If the port is taken, or nothing is known of the user.
    """
    user = await memory.runtime.storage.database.read(queries.users.find, user_id)
    if user is None:
        raise InvalidInput(
            f"{memory.path} knows no user {user_id!r}. Name another with --user, or another file."
        )
    listening = local_server.local_port(port)
    said_in = await Inspection(memory.runtime.database, user).zone()
    site = Site(memory, user_id, parse_zone(said_in) if said_in else zone)
    console.screen.print(
        f"Open http://{local_server.LOOPBACK}:{listening.getsockname()[1]}/{site.token}/",
        soft_wrap=True,
    )
    console.screen.print(
        "Whoever has this address on this machine sees this memory; it is new each time. Control-C ends.",
        style="dim",
    )
    await local_server.serve(build(site), listening)
