"""engram (engram-search): the tools of its MCP server, called here in its own process.

Its documented `RetrievalPipeline` finds less without the reranker: about 0.65 of the evidence of
one LoCoMo talk where the tools find 0.75.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engram import mcp_server

if TYPE_CHECKING:
    from eval.peers.child import Said


class Store:
    """A FAISS store behind the tools, one turn a document."""

    note = (
        "its MCP tools with MiniLM instead of bge-large, min_score=0.0; the reranker is "
        "off: its weights come from a hub"
    )

    def __init__(self, folder: str, model: str) -> None:
        mcp_server.STORE_PATH = folder
        mcp_server.EMBED_MODEL = model
        mcp_server._backend = None

    def add(self, turns: Sequence[Said]) -> None:
        """One call a turn."""
        for turn in turns:
            mcp_server.add_memory(turn.text, {"turn": turn.id, "timestamp": turn.day})

    def search(self, question: str, day: str, limit: int) -> list[str]:
        """Ids of turns, best first."""
        return [
            entry["metadata"]["turn"]
            for entry in mcp_server.search_memory(question, top_k=limit, min_score=0.0)
        ]

    def close(self) -> None:
        """Nothing is held."""
