"""Use a memory file as the account "nobody", to which file permissions apply.

`python -m tests.nobody FILE MODELS EXPORT`. Models are loaded before the account changes.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

from pipecat.frames.frames import LLMContextFrame, LLMContextUserTurnFrame
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.tests.utils import SleepFrame

from hotmem import HotMemError, Memory, Turn
from hotmem.models import load_encoder, load_language, load_reader
from hotmem.options import ModelOptions
from hotmem.pipecat import HotMemProcessor
from hotmem.storage import queries
from hotmem.tools.files import ExportArguments, export_memories
from tests.pipeline_runs import run_test

SAID = Turn("ana", "later", "user", "My cat is called Fips.", datetime(2026, 3, 4, tzinfo=UTC))


async def errors(memory: Memory) -> AsyncIterator[tuple[str, str]]:
    """Yield the error of each operation that writes."""
    block = await memory.recall("What is my dog called?", user_id="ana")
    for write in (
        memory.remember(SAID),
        memory.store_memory("I like tea.", user_id="ana"),
        memory.forget(user_id="ana", everything=True),
        memory.feedback(block, "She is called Potola."),
        memory.end_session(user_id="ana", session_id="monday"),
        memory.reset_weights("ana"),
        memory.evolve("ana"),
        memory.runtime.database.write_all(queries.maintenance.reindex),
    ):
        try:
            await write
        except HotMemError as error:
            yield type(error).__name__, str(error)
        else:
            yield "nothing", ""


async def call(memory: Memory) -> tuple[list[str], list[list[str]]]:
    """Return the contexts that a model gets in a call, and the errors of the processor."""
    processor = HotMemProcessor(memory, user_id="ana", deadline_ms=5000)
    failed: list[list[str]] = []
    processor.add_event_handler(
        "on_memory_error", lambda _, stage, error: failed.append([stage, type(error).__name__])
    )
    asked = LLMContextFrame(
        context=LLMContext(messages=[{"role": "user", "content": "What is my dog called?"}])
    )
    turn = LLMContextUserTurnFrame(text="What is my dog called?", timestamp="2026-03-05T08:00:00Z")
    down, _ = await run_test(processor, frames_to_send=[turn, asked, SleepFrame(0.5)])
    return [
        str(frame.context.get_messages()) for frame in down if isinstance(frame, LLMContextFrame)
    ], failed


async def main(path: Path, out: Path) -> None:
    """Print all results as JSON."""
    encoder, language = load_encoder(ModelOptions()), load_language()
    load_reader()
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    async with Memory.open(path, encoder=encoder, language=language) as memory:
        await memory.settle()
        spoken, failed = await call(memory)
        print(
            json.dumps(
                {
                    "recall": (await memory.recall("What is my dog called?", user_id="ana")).text,
                    "search": [
                        one.content
                        for one in (await memory.search_memory("dog", user_id="ana")).results
                    ],
                    "contextual": len(
                        (await memory.search_contextual("dog", user_id="ana")).sessions
                    ),
                    "trace": len((await memory.trace_search("dog", user_id="ana")).results),
                    "memories": [one.text for one in await memory.memories("ana")],
                    "faults": len(
                        await memory.runtime.database.read_all(queries.maintenance.faults)
                    ),
                    "exported": dict(
                        (await export_memories(memory, "ana", ExportArguments(file=str(out)))).lines
                    ),
                    "errors": [error async for error in errors(memory)],
                    "spoken": spoken,
                    "failed": failed,
                }
            )
        )


if __name__ == "__main__":
    asyncio.run(main(*map(Path, sys.argv[1:])))
