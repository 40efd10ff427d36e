"""A local OpenAI-compatible endpoint that answers as it is told, also badly."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

from hotmem.options import ExtractionOptions

Answer = str | Callable[[list[dict[str, Any]]], str]
"""An answer, or what makes it of the turns that were sent."""


@dataclass
class ChatServer:
    """What the endpoint answers, and what it was asked.

    Attributes:
        says: The text of its answers.
        body: The whole body of its responses instead.
        status: Status of its responses.
        headers: Further headers.
        wait_s: Seconds before a response.
        drip_s: Seconds between the bytes of a response; 0 sends it at once.
        usage: The tokens that it states.
        asked: Requests, as parsed JSON.
        arrived: Set while a request has arrived.
        url: The base URL.
    """

    says: Answer = '{"facts": []}'
    body: bytes | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    wait_s: float = 0.0
    drip_s: float = 0.0
    usage: dict[str, Any] | None = field(
        default_factory=lambda: {"prompt_tokens": 100, "completion_tokens": 20}
    )
    asked: list[dict[str, Any]] = field(default_factory=list)
    arrived: Event = field(default_factory=threading.Event)
    url: str = ""

    def options(self, **values: Any) -> ExtractionOptions:  # noqa: ANN401 - any option's
        own: dict[str, Any] = {"model": "bot", "base_url": self.url, "api_key": "k"}
        return ExtractionOptions(**{"timeout_s": 20.0, **own, **values})

    def turns(self, number: int = -1) -> list[dict[str, Any]]:
        """The turns of a request."""
        content = self.asked[number]["messages"][1]["content"]
        return [json.loads(line) for line in content.splitlines()]

    def response(self) -> bytes:
        if self.body is not None:
            return self.body
        text = self.says if isinstance(self.says, str) else self.says(self.turns())
        message = {"role": "assistant", "content": text}
        return json.dumps(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": "bot",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            }
            | ({} if self.usage is None else {"usage": self.usage})
        ).encode()


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    """Run an endpoint on a free port of this machine."""
    chat = ChatServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = self.rfile.read(int(self.headers["Content-Length"]))
            chat.asked.append(json.loads(asked))
            chat.arrived.set()
            time.sleep(chat.wait_s)
            body = chat.response()
            with suppress(ConnectionError):
                self.send_response(chat.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                for name, value in chat.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                if not chat.drip_s:
                    self.wfile.write(body)
                for place in range(len(body) if chat.drip_s else 0):
                    self.wfile.write(body[place : place + 1])
                    time.sleep(chat.drip_s)

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    chat.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield chat
    finally:
        server.shutdown()
        server.server_close()


def fact(
    turn: int, quote: str, subject: str, relation: str, value: str, **more: object
) -> dict[str, Any]:
    """A fact as a model proposes it."""
    text = more.pop("text", f"{subject} {relation} {value}.")
    return {
        "turn": turn,
        "quote": quote,
        "subject": subject,
        "relation": relation,
        "value": value,
        "text": text,
        **more,
    }


def facts(*listed: object) -> str:
    """An answer with some facts."""
    return json.dumps({"facts": list(listed)})
