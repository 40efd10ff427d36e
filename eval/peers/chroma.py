"""chromadb: one persistent collection with its sentence-transformers embedding function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import chromadb
from chromadb.config import Settings
from chromadb.utils.embedding_functions import SentenceTransformerEmbeddingFunction

if TYPE_CHECKING:
    from eval.peers.child import Said


class Store:
    """A collection with chromadb's default index."""

    note = "MiniLM by sentence-transformers, as its own copy would be downloaded"

    def __init__(self, folder: str, model: str) -> None:
        self._client = chromadb.PersistentClient(
            folder, settings=Settings(anonymized_telemetry=False)
        )
        self._collection = self._client.create_collection(
            "turns", embedding_function=SentenceTransformerEmbeddingFunction(model)
        )

    def add(self, turns: Sequence[Said]) -> None:
        """One call a session."""
        self._collection.add(
            ids=[turn.id for turn in turns], documents=[turn.text for turn in turns]
        )

    def search(self, question: str, day: str, limit: int) -> list[str]:
        """Ids of turns, best first."""
        return list(self._collection.query(query_texts=[question], n_results=limit)["ids"][0])

    def close(self) -> None:
        """Stops the client."""
        self._client.close()
