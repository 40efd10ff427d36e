"""HTTP server of the inspector, on this machine only."""

from datetime import tzinfo

from hotmem.cli import console
from hotmem.core import local_server
from hotmem.errors import InvalidInput
from hotmem.inspector.changes import Site
from hotmem.inspector.routes import build
from hotmem.memory import Memory
from hotmem.storage import queries
from hotmem.storage.inspection import Inspection, conversations
from hotmem.text.timezones import parse_zone


async def serve(memory: Memory, user_id: str, port: int, zone: tzinfo | None = None) -> None:
    """Serve the inspector until the process is stopped.

    Args:
        memory: The open memory.
        user_id: User ID.
        port: Port; 0 chooses a free port.
        zone: Time zone of the user if no turn has one; None is that of this machine.

    Raises:
        InvalidInput: If the port is in use or the user is unknown.
    """
    user = await memory.runtime.database.read_all(queries.users.find, user_id)
    if user is None:
        raise InvalidInput(
            f"{memory.runtime.location} has no user {user_id!r}."
            " Name another user or another memory."
        )
    listening = local_server.local_port(port)
    spoken_in = await Inspection(memory.runtime.database, user).read(conversations.zone)
    site = Site(memory, user_id, parse_zone(spoken_in) if spoken_in else zone)
    console.print_line(
        f"Open http://{local_server.LOOPBACK}:{listening.getsockname()[1]}/{site.token}/"
    )
    console.print_line(
        "Anyone on this machine with this address can see this memory. It changes with each "
        "start. Press Ctrl+C to stop.",
        style="dim",
    )
    await local_server.serve(build(site), listening)
