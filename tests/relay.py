"""A TCP relay between a client and a server, which can lose, hold back and refuse."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

COMMIT: Final = b"COMMIT\x00"


class Relay:
    """Listens on a free port of this machine and passes everything on to a server.

    Attributes:
        port: The port.
        frozen: While it is set, nothing is passed on; connections are accepted.
        lose: Which end of a COMMIT is lost with its connection, once: "answer" (the server has
            committed), "all" (so it has, and no connection is accepted any more), "request" (it
            has not), or "" for none.
        lost: Set when that happened.
        refusing: Whether new connections are closed at once.
    """

    def __init__(self, server: int) -> None:
        self.server = server
        self.frozen = threading.Event()
        self.lose = ""
        self.lost = threading.Event()
        self.refusing = False
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, url: str) -> str:
        """A URL of the server, through the relay."""
        return url.replace(f":{self.server}/", f":{self.port}/")

    def close(self) -> None:
        """End all connections and stop listening."""
        self._listening.close()
        self.cut()

    def cut(self) -> None:
        """End all connections."""
        for one in self._open:
            _end(one)
        self._open.clear()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            if self.refusing:
                _end(client)
                continue
            try:
                server = socket.create_connection(("127.0.0.1", self.server))
            except OSError:
                _end(client)
                continue
            self._open += [client, server]
            losing = threading.Event()
            for source, target, asks in ((client, server, True), (server, client, False)):
                threading.Thread(
                    target=self._pass, args=(source, target, asks, losing), daemon=True
                ).start()

    def _pass(
        self, source: socket.socket, target: socket.socket, asks: bool, losing: threading.Event
    ) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                while self.frozen.is_set():
                    threading.Event().wait(0.01)
                if asks and self.lose and data.endswith(COMMIT):
                    lose, self.lose = self.lose, ""
                    self.refusing = lose == "all"
                    losing.set()
                    if lose == "request":
                        self.lost.set()
                        break
                elif not asks and losing.is_set():
                    self.lost.set()
                    if self.refusing:
                        self.cut()
                    break
                target.sendall(data)
        _end(source)
        _end(target)


@contextmanager
def relay(server: int) -> Iterator[Relay]:
    """A relay to a port of this machine."""
    running = Relay(server)
    try:
        yield running
    finally:
        running.close()


def _end(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
