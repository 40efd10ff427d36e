"""Serves the pages on this machine alone."""

from datetime import tzinfo

from hotmem import serving, terminal
from hotmem.errors import InvalidInput
from hotmem.inspector.routes import build
from hotmem.inspector.site import Site
from hotmem.memory import Memory
from hotmem.zones import named


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
    user = await memory.store.user(user_id)
    if user is None:
        raise InvalidInput(f"{memory.path} knows no user {user_id!r}. Name another with --user, or another file.")
    listening = serving.local_port(port)
    said_in = await memory.store.inspection(user).zone()
    site = Site(memory, user_id, named(said_in) if said_in else zone)
    terminal.screen.print(f"Open http://{serving.LOOPBACK}:{listening.getsockname()[1]}/{site.token}/", soft_wrap=True)
    terminal.screen.print("Whoever has this address on this machine sees this memory; it is new each time. Control-C ends.", style="dim")
    await serving.serve(build(site), listening)
