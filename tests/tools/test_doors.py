"""The same tools through every door: Python, the command line, the Model Context Protocol, and the bot's own model."""

import asyncio
import json
import sys
from contextlib import closing
from pathlib import Path
from socket import socket
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from hotmem import InvalidInput, Memory
from hotmem.options import ModelOptions
from hotmem.tools.catalogue import TOOLS, tool
from hotmem.tools.mcp import serve_http, server

FACT = "The boiler's serial number is 44 B 19."


def answered(result: Any) -> Any:  # noqa: ANN401 - the protocol's result
    """What a tool answered."""
    assert not result.is_error, result.content
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


async def test_every_tool_says_what_it_takes() -> None:
    assert [one.name for one in TOOLS[:3]] == ["store_memory", "search_memory", "search_contextual"]
    for one in TOOLS:
        assert one.description.endswith(".")
        assert one.schema["additionalProperties"] is False
        assert one not in TOOLS[:3] or len(one.schema["required"]) == 1


async def test_an_unknown_tool_is_named() -> None:
    with pytest.raises(InvalidInput, match="'fly' is no tool"):
        tool("fly")


async def test_a_client_of_the_protocol_stores_and_finds(memory: Memory) -> None:
    async with Client(server(memory, "ana")) as client:
        assert [one.name for one in (await client.list_tools()).tools] == [one.name for one in TOOLS]
        stored = answered(await client.call_tool("store_memory", {"content": FACT, "importance": 4}))
        assert stored["success"] and stored["analysis"]["importance"] == 4
        found = answered(await client.call_tool("search_memory", {"query": "serial number of the boiler"}))
        assert [one["id"] for one in found["results"]] == [stored["id"]]
        wrong = await client.call_tool("store_memory", {"content": FACT, "importance": 9})
        assert wrong.is_error and "importance is 9" in str(wrong.content)
        strange = await client.call_tool("search_memory", {"query": "boiler", "user_id": "ben"})
        assert strange.is_error and "user_id is not known here" in str(strange.content)
    assert (await memory.memories("ana"))[0].text == FACT


async def test_over_http_on_this_machine(memory: Memory) -> None:
    with closing(socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serving = asyncio.create_task(serve_http(memory, "ana", port))
    for _ in range(100):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            break
        except OSError:
            await asyncio.sleep(0.05)
    async with Client(f"http://127.0.0.1:{port}/mcp") as client:
        assert answered(await client.call_tool("store_memory", {"content": FACT}))["success"]
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)


async def test_by_standard_input_and_output(database: Path, model_options: ModelOptions) -> None:
    command = ["-m", "hotmem.cli", "serve-mcp", "--user", "ana", "--database", str(database)]
    surroundings = {"HOTMEM_CACHE_DIR": str(model_options.cache_dir), "HF_HUB_OFFLINE": "1", "PATH": "/usr/bin:/bin"}
    async with Client(StdioServerParameters(command=sys.executable, args=command, env=surroundings)) as client:
        assert answered(await client.call_tool("store_memory", {"content": FACT}))["success"]
        assert answered(await client.call_tool("search_memory", {"query": "boiler"}))["total_found"] == 1
