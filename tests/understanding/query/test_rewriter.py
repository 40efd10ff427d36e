"""Rewriting by a language model, against a local server that answers, delays or fails."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotmem import Options
from hotmem.options import RewriteOptions
from hotmem.understanding.query.rewriter import Rewriter, validate
from tests.conversation import OpenMemory, remember, said

TURNS = ("I bought a blue kayak from Ottoline.", "It leaks a little.")
ASKED = "How long is it?"
RIGHT = json.dumps(
    {
        "rewritten": "How long is the blue kayak?",
        "confidence": 0.95,
        "resolved": ["it → the blue kayak"],
    }
)


@dataclass
class Model:
    """What the server says, after how long, with which status; and what it was asked."""

    says: str = RIGHT
    status: int = 200
    wait_s: float = 0.0
    cut: bool = False
    asked: list[dict[str, object]] = field(default_factory=list)
    url: str = ""

    def options(self, deadline_ms: float = 3000.0) -> RewriteOptions:
        return RewriteOptions("small", self.url, "key", deadline_ms)


@contextmanager
def serving(model: Model) -> Iterator[Model]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            model.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            time.sleep(model.wait_s)
            choice = {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": model.says},
            }
            body = json.dumps(
                {
                    "id": "1",
                    "object": "chat.completion",
                    "created": 0,
                    "model": "small",
                    "choices": [choice],
                }
            ).encode()
            self.send_response(model.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if model.cut else body)

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    model.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()


async def test_a_right_answer_is_used_and_kept() -> None:
    with serving(Model()) as model:
        rewriter = Rewriter(model.options())
        first = await rewriter.rewrite(ASKED, TURNS, hints=("the old raft",))
        again = await rewriter.rewrite(ASKED, TURNS)
        await rewriter.close()
    assert (first.expanded, first.rewritten, first.confidence, first.turns) == (
        "How long is the blue kayak?",
        True,
        0.95,
        2,
    )
    assert first.resolved == ("it → the blue kayak",) and first.ms > 0
    assert again is first and len(model.asked) == 1
    assert model.asked[0]["temperature"] == 0 and "blue kayak" in str(model.asked[0]["messages"])
    assert "It may refer to (a guess, possibly wrong): the old raft" in str(model.asked[0])


@pytest.mark.parametrize(
    ("says", "expanded"),
    [
        (
            f"Sure! Here it is:\n```json\n{RIGHT}\n```\nAnything else?",
            "How long is the blue kayak?",
        ),
        ('"How long is the blue kayak?"', "How long is the blue kayak?"),
        ('{"rewritten": "How long is the blue kayak?", "confidence": 0.4}', ASKED),
        ('{"rewritten": "How long is the red canoe?", "confidence": 1.0}', ASKED),
        ('{"rewritten": "The blue kayak is four metres.", "confidence": 1.0}', ASKED),
        ('{"rewritten": "Who sold the blue kayak?", "confidence": 1.0}', ASKED),
        ("I cannot help with that.\nSorry.", ASKED),
        ("", ASKED),
        ("{broken", ASKED),
        ("[]", ASKED),
        ('{"rewritten": null, "confidence": "high"}', ASKED),
    ],
)
async def test_a_rude_or_wrong_answer_is_peeled_or_left(says: str, expanded: str) -> None:
    with serving(Model(says)) as model:
        rewriter = Rewriter(model.options())
        found = await rewriter.rewrite(ASKED, TURNS)
        await rewriter.close()
    assert found.expanded == expanded and found.rewritten is (expanded != ASKED) and found.reason


@pytest.mark.parametrize(
    "model",
    [Model(status=500), Model(status=401), Model(cut=True), Model(says=RIGHT, wait_s=2.0)],
    ids=["500", "401", "cut", "slow"],
)
async def test_a_model_that_fails_or_is_slow_costs_its_deadline_at_most(model: Model) -> None:
    with serving(model):
        rewriter = Rewriter(model.options(deadline_ms=500))
        started = time.monotonic()
        found = await rewriter.rewrite(ASKED, TURNS)
        took = time.monotonic() - started
        await rewriter.close()
    assert (found.expanded, found.rewritten) == (ASKED, False) and "failed" in found.reason
    assert took < 1.5


async def test_no_server_at_all_is_no_error() -> None:
    rewriter = Rewriter(RewriteOptions("small", "http://127.0.0.1:9/v1", "", 500))
    assert not (await rewriter.rewrite(ASKED, TURNS)).rewritten
    await rewriter.close()


async def test_a_recall_asks_the_model_only_where_something_is_left_unsaid(
    database: Path, open_memory: OpenMemory
) -> None:
    with serving(
        Model(json.dumps({"rewritten": "Where does Ottoline live?", "confidence": 0.9}))
    ) as model:
        async with open_memory(database, Options(rewriting=model.options())) as memory:
            await remember(
                memory,
                said("Ottoline lives in Utrecht.", session="earlier"),
                said("I met Ottoline and her brother Leif today.", minutes=60),
            )
            clear = await memory.recall("Where does Leif live?", user_id="ana", session_id="monday")
            unsaid = await memory.recall("Where does she live?", user_id="ana", session_id="monday")
    assert clear.trace.rewrite is None and len(model.asked) == 1
    assert unsaid.trace.rewrite is not None and unsaid.trace.rewrite.rewritten
    assert unsaid.trace.analysis is not None and "ottoline" in unsaid.trace.analysis.expansion
    assert "Utrecht" in unsaid.text


@given(st.text(max_size=300), st.text(max_size=60), st.lists(st.text(max_size=60), max_size=3))
def test_any_answer_can_be_checked(answer: str, text: str, turns: list[str]) -> None:
    found = validate(text, turns, answer, 1.0)
    assert found.original == text and 0 <= found.confidence <= 1
    assert found.rewritten or found.expanded.casefold() == text.casefold() or found.expanded == text
