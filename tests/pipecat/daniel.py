"""A user with an earlier session, and frames of the next one."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pipecat.frames.frames import Frame, LLMContextFrame
from pipecat.processors.aggregators.llm_context import LLMContext

from hotmem import Memory, Turn
from hotmem.pipecat import HotMemProcessor

MONDAY = datetime(2026, 3, 2, 18, tzinfo=UTC)
THURSDAY = datetime(2026, 3, 5, 8, tzinfo=UTC)
PATIENT_MS = 5_000.0
"""A recall deadline long enough for a busy machine."""

TOLD = ("My dog is called Rocky.", "My sister lives in Boston.", "I am allergic to peanuts.")
SMALL_TALK = "Good morning!"


async def tell(memory: Memory) -> None:
    """Store an earlier session."""
    for number, text in enumerate(TOLD):
        await memory.remember(
            Turn("daniel", "monday", "user", text, MONDAY, speaker="Daniel", id=f"told-{number}")
        )
    await memory.settle()


def daniels(
    memory: Memory | Path,
    *,
    deadline_ms: float = PATIENT_MS,
    speakers: Mapping[str, str] | None = None,
    clock: Callable[[], datetime] = lambda: THURSDAY,
    opening_tokens: int | None = 0,
    guests: Literal["none", "shared", "all"] = "shared",
) -> HotMemProcessor:
    """A processor for the next session, by default without an opening block."""
    return HotMemProcessor(
        memory,
        user_id="daniel",
        session_id="thursday",
        user_name="Daniel",
        deadline_ms=deadline_ms,
        opening_tokens=opening_tokens,
        speakers=speakers,
        guests=guests,
        clock=clock,
    )


def events(processor: HotMemProcessor, name: str, place: int = 0) -> list[Any]:
    """What the events of a name tell from now on: of each, the argument at a place."""
    told: list[Any] = []
    processor.add_event_handler(name, lambda _, *arguments: told.append(arguments[place]))
    return told


def blocks(messages: list[dict[str, str]]) -> list[str]:
    """The context blocks among messages."""
    return [message["content"] for message in messages if "<memory>" in str(message.get("content"))]


def asking(text: str, *, speculation: bool = False) -> LLMContextFrame:
    """A context frame with a user message."""
    return LLMContextFrame(
        context=LLMContext(messages=[{"role": "user", "content": text}]), speculation=speculation
    )


def contexts(frames: Iterable[Frame]) -> list[LLMContextFrame]:
    """The context frames among frames."""
    return [frame for frame in frames if isinstance(frame, LLMContextFrame)]
