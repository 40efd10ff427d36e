"""Other memory libraries on the same questions, each in its own virtual environment.

make peers ──▶ .peers/<environment>      pins in <environment>.txt
comparison ──▶ process ══ JSON lines ══▶ child ──▶ mem0 | chroma | langgraph | engram

A peer ranks turns, which are packed as those of the baselines. HotMem makes its own block.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class Peer:
    """A memory library to compare with.

    Attributes:
        name: Its name in reports.
        program: The file of its `Store`, without ".py".
        environment: Its virtual environment, and its requirements file.
    """

    name: str
    program: str
    environment: str

    @property
    def version(self) -> str:
        """Return the first line of its requirements, such as "chromadb==1.5.9"."""
        return (
            Path(__file__)
            .with_name(f"{self.environment}.txt")
            .read_text(encoding="utf-8")
            .splitlines()[0]
        )


PEERS: Final[Sequence[Peer]] = (
    Peer("mem0, semantic only", "mem0", "mem0"),
    Peer("mem0 with its BM25", "mem0", "mem0-hybrid"),
    Peer("chromadb", "chroma", "chroma"),
    Peer("langgraph", "langgraph", "langgraph"),
    Peer("engram-search", "engram", "engram"),
)
