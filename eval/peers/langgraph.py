"""langgraph: `InMemoryStore` with an index over the text, its long-term memory without a server."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from langgraph.store.memory import InMemoryStore
from sentence_transformers import SentenceTransformer

if TYPE_CHECKING:
    from eval.peers.child import Said

NAMESPACE: Final = ("user", "turns")


@cache
def encoder(model: str) -> SentenceTransformer:
    """The encoder, loaded once."""
    return SentenceTransformer(model)


class Store:
    """A store that lives as long as its process."""

    note = "InMemoryStore, which keeps nothing on disk"

    def __init__(self, folder: str, model: str) -> None:
        def embed(texts: Sequence[str]) -> Any:  # noqa: ANN401 - nested lists of floats, as numpy types them
            return encoder(model).encode(list(texts)).tolist()

        self._store = InMemoryStore(index={"dims": 384, "embed": embed, "fields": ["text"]})

    def add(self, turns: Sequence[Said]) -> None:
        """One call a turn."""
        for turn in turns:
            self._store.put(NAMESPACE, turn.id, {"text": turn.text})

    def search(self, question: str, day: str, limit: int) -> list[str]:
        """Ids of turns, best first."""
        return [item.key for item in self._store.search(NAMESPACE, query=question, limit=limit)]

    def close(self) -> None:
        """Nothing is held."""
