"""Memories that fail or are slow."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from hotmem import Memory, Turn
from hotmem.models import Encoder, Language, Vectors
from hotmem.types import ContextBlock
from tests.letters import LetterEncoder


class Breaking(LetterEncoder):
    """An encoder that always raises."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        raise RuntimeError("dog")


class Raising(Memory):
    """A memory that raises OSError."""

    async def recall(self, *_: object, **__: object) -> ContextBlock:
        raise OSError("peanuts")

    async def remember(self, _: Turn) -> bool:
        raise OSError("peanuts")


class Hanging(Memory):
    """A memory whose calls never return."""

    async def recall(self, *_: object, **__: object) -> ContextBlock:
        await asyncio.Event().wait()
        raise AssertionError

    async def remember(self, _: Turn) -> bool:
        await asyncio.Event().wait()
        return True


class Slow(Memory):
    """A memory whose recalls take `seconds` longer, and find nothing within less time."""

    def __init__(self, path: Path, *, encoder: Encoder, language: Language, seconds: float) -> None:
        super().__init__(path, encoder=encoder, language=language)
        self.seconds = seconds

    async def recall(
        self, text: str, *, deadline_ms: float | None = None, **more: object
    ) -> ContextBlock:
        given_s = (deadline_ms or 1e6) / 1000
        await asyncio.sleep(min(self.seconds, given_s))
        left_ms = 0.001 if given_s < self.seconds else None
        return await super().recall(text, deadline_ms=left_ms, **more)  # type: ignore[arg-type]
