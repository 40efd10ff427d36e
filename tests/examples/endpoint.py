"""A local OpenAI-compatible endpoint that streams scripted answers."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class ToolCall:
    """A call of a function."""

    name: str
    arguments: dict[str, Any]


Answer = str | ToolCall


@dataclass
class Endpoint:
    """The endpoint.

    Attributes:
        answer: Makes the answer of the messages of a request.
        requests: Requests, as parsed JSON.
        url: The base URL.
    """

    answer: Callable[[Sequence[dict[str, Any]]], Answer]
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    def environment(self) -> dict[str, str]:
        """Variables that point an example at it."""
        return {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": self.url, "OPENAI_MODEL": "scripted"}

    def stream(self, messages: Sequence[dict[str, Any]]) -> bytes:
        """The body of a response."""
        answer = self.answer(messages)
        deltas: list[dict[str, Any]]
        if isinstance(answer, str):
            deltas = [{"content": f"{word} "} for word in answer.split()]
        else:
            function = {"name": answer.name, "arguments": json.dumps(answer.arguments)}
            call = {"index": 0, "id": "call-1", "type": "function", "function": function}
            deltas = [{"tool_calls": [call]}]
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
        lines = [
            json.dumps(chunk | {"choices": [{"index": 0, "delta": delta}]}) for delta in deltas
        ]
        return "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()


@contextmanager
def endpoint(answer: Callable[[Sequence[dict[str, Any]]], Answer]) -> Iterator[Endpoint]:
    """Run an endpoint on a free port of this machine."""
    scripted = Endpoint(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            scripted.requests.append(asked)
            body = scripted.stream(asked["messages"])
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    scripted.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield scripted
    finally:
        server.shutdown()
        server.server_close()
