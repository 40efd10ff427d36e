"""The unrelated package `hotmem` on PyPI, through its server and client."""

from __future__ import annotations

import importlib
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import httpx

if TYPE_CHECKING:
    from eval.peers.child import Said

TRIES: Final = 300
PAUSE_S: Final = 0.1
"""The server has half a minute to answer."""


class Storage:
    """A server of its own on a free port of the loopback."""

    note = (
        "an unrelated project: hashed character trigrams instead of an encoder; through "
        "its server, as it is used"
    )

    def __init__(self, folder: str, model: str) -> None:
        port = free_port()
        command = [
            str(Path(sys.executable).with_name("hotmem")),
            "serve",
            "--mount",
            folder,
            "--port",
            str(port),
        ]
        self._server = subprocess.Popen(command, stdout=sys.stderr)
        # Imported by name: where types are checked, hotmem is this project.
        self._client: Any = importlib.import_module("hotmem.client").HotMemClient(
            f"http://127.0.0.1:{port}"
        )
        self._turns: dict[str, str] = {}
        self._wait()

    def add(self, turns: Sequence[Said]) -> None:
        """One call a turn."""
        for turn in turns:
            self._turns[self._client.add("user", turn.text)["memory_id"]] = turn.id

    def search(self, question: str, day: str, limit: int) -> list[str]:
        """Ids of turns, best first."""
        return [
            self._turns[entry["memory_id"]] for entry in self._client.search(question, top_k=limit)
        ]

    def close(self) -> None:
        """Stops the server."""
        self._server.terminate()
        self._server.wait()

    def _wait(self) -> None:
        for _ in range(TRIES):
            with suppress(httpx.TransportError):
                self._client.health()
                return
            time.sleep(PAUSE_S)
        raise TimeoutError("The peer's server does not answer.")


def free_port() -> int:
    """A port of the loopback that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])
