"""The LLM service: an OpenAI-compatible endpoint, or the rule-based responder."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr

from hotmem import Turn
from hotmem.pipecat import HotMemProcessor
from pipelines.bot import build_bot, running
from pipelines.chat import queue_turn
from pipelines.exchange import ExchangeListener
from pipelines.llm import ModelSettings, build_llm
from pipelines.responder import Responder
from tests.conversation import OpenMemory, remember

ANSWER = ("She is", " called", " Rocky.")


@pytest.fixture
async def endpoint() -> AsyncIterator[tuple[str, list[dict[str, Any]]]]:
    """Base URL of a local endpoint that streams `ANSWER`, and the requests it received."""
    requests: list[dict[str, Any]] = []

    async def complete(request: web.Request) -> web.StreamResponse:
        requests.append(await request.json())
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Connection": "close"}
        )
        await response.prepare(request)
        for word in ANSWER:
            chunk = {
                "id": "1",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": "m",
                "choices": [{"index": 0, "delta": {"content": word}}],
            }
            await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
        await response.write(b"data: [DONE]\n\n")
        return response

    app = web.Application()
    app.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    yield f"http://127.0.0.1:{port}/v1", requests
    await runner.cleanup()


async def test_the_endpoint_receives_the_context_block(
    endpoint: tuple[str, list[dict[str, Any]]], tmp_path: Path, open_memory: OpenMemory
) -> None:
    address, requests = endpoint
    settings = ModelSettings(base_url=address, model="m", api_key=SecretStr("key"))
    assert settings.name == "m"
    async with open_memory(tmp_path / "memory.db") as memory:
        await remember(
            memory,
            Turn(
                "daniel",
                "monday",
                "user",
                "My dog is called Rocky.",
                datetime(2026, 3, 2, tzinfo=UTC),
            ),
        )
        bot = build_bot(
            HotMemProcessor(memory, user_id="daniel", deadline_ms=5_000),
            await asyncio.to_thread(build_llm, settings),
        )
        listener = ExchangeListener(bot)
        async with running(bot):
            await queue_turn("What is my dog called?", "daniel", bot)
            exchange = await listener.next(20)
    assert exchange.reply == "She is called Rocky."
    assert exchange.usage is not None
    assert exchange.usage.used
    *_, block, question = requests[0]["messages"]
    assert "Rocky" in block["content"]
    assert question == {"role": "user", "content": "What is my dog called?"}


def test_the_responder_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BASE_URL", "MODEL", "API_KEY"):
        monkeypatch.delenv(f"HOTMEM_LLM_{name}", raising=False)
    settings = ModelSettings()
    assert isinstance(build_llm(settings), Responder)
    assert settings.name == "rule-based responder, not a language model"
    monkeypatch.setenv("HOTMEM_LLM_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("HOTMEM_LLM_MODEL", "llama")
    assert ModelSettings().name == "llama"
