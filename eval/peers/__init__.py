"""Other memories on the same questions, each in a virtual environment of its own.

    make peers ──▶ .peers/<environment>      pins in <environment>.txt
    comparison ──▶ process ══ JSON lines ══▶ child ──▶ mem0 | chroma | langgraph | engram | namesake

A peer ranks turns; the references' packing fills the block, so all blocks are made alike. HotMem
makes its own block.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class Peer:
    """A memory to be measured beside HotMem.

    Attributes:
        name: Its name in reports.
        program: The file of its `Store`, without ".py".
        environment: Its virtual environment, and the requirements file of that name.
    """

    name: str
    program: str
    environment: str

    @property
    def version(self) -> str:
        """What is installed, as the first line of its requirements says: "chromadb==1.5.9"."""
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
    Peer("namesake", "namesake", "namesake"),
)
