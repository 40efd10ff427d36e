"""A program that uses a memory through the Model Context Protocol.

    pip install "pipecat-hotmem[mcp]"
    python mcp_client.py

It starts `hotmem serve-mcp` itself. Claude Desktop, editors and other clients take the same command
and arguments in their configuration.
"""

import asyncio
import os
import sys

from mcp import Client
from mcp.client.stdio import StdioServerParameters

SERVER = StdioServerParameters(
    command=sys.executable,
    args=["-m", "hotmem.cli.app", "serve-mcp", "--user", "ana", "--database", "memory.db"],
    env=dict(os.environ),  # without it the server gets no HOTMEM_ variable
)


async def main() -> None:
    """Store a statement, find it, and ask how to delete it."""
    async with Client(SERVER) as client:
        print(*(tool.name for tool in (await client.list_tools()).tools))
        stored = await client.call_tool(
            "store_memory", {"content": "The boiler's serial number is 44 B 19."}
        )
        found = await client.call_tool("search_memory", {"query": "serial number of the boiler"})
        for result in (found.structured_content or {})["results"]:
            print(result["content"])
        memory_id = (stored.structured_content or {})["id"]
        asked = await client.call_tool("forget_memory", {"memory_id": memory_id})
        print((asked.structured_content or {})["description"])  # deletes with `confirmation` only


if __name__ == "__main__":
    asyncio.run(main())
