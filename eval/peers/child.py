"""The program that runs in a peer's own environment: one JSON line asks, one answers.

    {"open": FOLDER}                       → {"note": what was set or is off}
    {"add": [{id, text, role, day}, …]}    → {"ms": …}      one session
    {"search": TEXT, "day": …, "limit": …} → {"ms": …, "found": [id, …]}

Only the standard library and the peer are imported here. Milliseconds are taken around the peer's
own call, so the pipe costs nothing. What the peer prints goes to stderr, and it reaches no host but
this one.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, Protocol

LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class Said:
    """A turn as every peer is given it.

    Attributes:
        id: The turn's id.
        text: "Ana: text", as the references index it.
        role: "user" or "assistant".
        day: The day it was said, "2024-05-06".
    """

    id: str
    text: str
    role: str
    day: str


class Store(Protocol):
    """One conversation in a peer; each peer's file has a class `Store` of this shape."""

    note: str
    """What differs from the peer's defaults, and what it does without."""

    def __init__(self, folder: str, model: str) -> None:
        """An empty store in a folder; `model` is the folder of the encoder's weights."""

    def add(self, turns: Sequence[Said]) -> None:
        """Keeps a session, ready to be searched when this returns."""

    def search(self, question: str, day: str, limit: int) -> list[str]:
        """Ids of at most `limit` turns, best first, for a question asked on a day."""

    def close(self) -> None:
        """Lets go of the folder."""


def refuse_network(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: no Python code may reach another host.

    Raises:
        ConnectionRefusedError: If it tries.
    """
    match event, arguments:
        case ("socket.connect", (_, (str(host), *_))) | ("socket.getaddrinfo", (str(host), *_)) if (
            host not in LOOPBACK
        ):
            raise ConnectionRefusedError("Peers are measured without a network.")


def serve(store: type[Store], model: str, requests: IO[str], answers: IO[str]) -> None:
    """Answers requests until there are no more."""
    opened: Store | None = None
    for line in requests:
        request = json.loads(line)
        if "open" in request:
            if opened:
                opened.close()
            opened = store(request["open"], model)
            answer: dict[str, Any] = {"note": opened.note}
        else:
            assert opened, "a store is opened first"
            answer = _timed(opened, request)
        print(json.dumps(answer), file=answers, flush=True)
    if opened:
        opened.close()


def _timed(store: Store, request: dict[str, Any]) -> dict[str, Any]:
    if "add" in request:
        turns = [Said(**turn) for turn in request["add"]]
        started = time.perf_counter()
        store.add(turns)
        return {"ms": 1000 * (time.perf_counter() - started)}
    started = time.perf_counter()
    found = store.search(request["search"], request["day"], request["limit"])
    return {"ms": 1000 * (time.perf_counter() - started), "found": found}


def main() -> None:
    """Serve the peer named by the first argument, with the weights in the second's folder."""
    name, model = sys.argv[1:]
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sys.addaudithook(refuse_network)
    serve(
        runpy.run_path(str(Path(__file__).with_name(f"{name}.py")))["Store"],
        model,
        sys.stdin,
        answers,
    )


if __name__ == "__main__":
    main()
