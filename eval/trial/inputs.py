"""The inputs of the trial, and what all parts need to run them."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from hotmem import Memory, Role, Turn
from hotmem.tools.registry import tool
from hotmem.types import StoredMemory

FOLDER: Final = Path(__file__).parent / "data"
NOW: Final = datetime.now(UTC)
"""When the trial runs; conversations are some days before it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came back for one input.

    Attributes:
        part: The part of the design, and what of it was judged.
        name: The input.
        right: Whether it is what was written down before the run.
        got: What came back, for a person to read.
    """

    part: str
    name: str
    right: bool
    got: str


def load(name: str) -> dict[str, Any]:
    """Read a file of inputs."""
    return tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))


def dated(text: str) -> str:
    """Put the days of this run into a text with `{tomorrow}`, `{in5}` or `{ago9}`."""
    days = {"tomorrow": 1, "in5": 5, "ago9": -9}
    named = {name: f"{NOW + timedelta(days=by):%A} {day(by)}" for name, by in days.items()}
    return text.format_map(named)


def day(by: int) -> str:
    """Write the day that is so many days from now, such as "4 December"."""
    then = NOW + timedelta(days=by)
    return f"{then.day} {then:%B}"


def conversation(
    user: str, session: str, lines: Sequence[str], days_ago: float, speaker: str
) -> Iterator[Turn]:
    """Yield the turns of lines that begin with "U:" (user) or "B:" (bot), a minute apart."""
    start = NOW - timedelta(days=days_ago)
    for place, line in enumerate(lines):
        role, _, text = line.partition(": ")
        bot = role == "B"
        yield Turn(
            user,
            session,
            Role.ASSISTANT if bot else Role.USER,
            text,
            start + timedelta(minutes=place),
            speaker="Robin" if bot else speaker,
        )


async def tell(memory: Memory, user: str, said: Sequence[str], days_ago: float = 20) -> list[str]:
    """Remember each sentence in a conversation of its own, a day apart; return the turns' ids."""
    ids = []
    for place, text in enumerate(said):
        lines = [f"U: {dated(text)}"]
        for turn in conversation(user, f"{user}-{place}", lines, days_ago - place, "Mira"):
            await memory.remember(turn)
            ids.append(turn.id)
    await memory.settle()
    return ids


async def call(memory: Memory, user: str, name: str, arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401 - each tool has its own result
    """Call a tool as a program does, with arguments as JSON has them."""
    found = tool(name)
    return await found.run(
        memory, user, TypeAdapter(found.arguments).validate_python(dict(arguments))
    )


async def known(memory: Memory, user: str, word: str) -> list[StoredMemory]:
    """List the memories with a word, also those that ended."""
    every = await memory.memories(user, past=True)
    return [one for one in every if word.lower() in one.text.lower()]
