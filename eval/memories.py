"""Memories of measurements, in a folder that is removed afterwards."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from hotmem import Memory, Options
from hotmem.models import Encoder, Language


@asynccontextmanager
async def temporary_memory(
    options: Options | None = None,
    *,
    encoder: Encoder | None = None,
    language: Language | None = None,
) -> AsyncIterator[Memory]:
    """Yield an empty memory; the arguments are those of `Memory.open`."""
    with TemporaryDirectory(prefix="hotmem-eval-", ignore_cleanup_errors=True) as folder:
        async with Memory.open(
            Path(folder) / "memory.db", options, encoder=encoder, language=language
        ) as memory:
            yield memory
