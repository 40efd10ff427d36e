"""Makes `version1.db.xz`, a memory file as the first version wrote it, compressed.

    python -m tests.storage.sqlite.make_version1

It was run once; the file is kept, so that every later version shows that it still opens and answers
it. It holds everything that a later step has to keep: conversations, stored memories, decisions of
all kinds, of which some were undone, two imports, one of them undone, and a deletion in its time of
grace.
"""

import asyncio
import json
import lzma
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from hotmem import Memory
from hotmem.tools.registry import tool
from hotmem.types import Turn
from tests.conversation import START, said
from tests.letters import LetterEncoder

FILE: Final = Path(__file__).with_name("version1.db.xz")

QUESTION: Final = "What's my dog called?"

TURNS: Final[tuple[Turn, ...]] = (
    said("My dog is called Paola. I live in Porto.", session="first", name="t1"),
    said(
        "What a lovely name!",
        session="first",
        role="assistant",
        speaker="Bot",
        minutes=1,
        name="t2",
    ),
    said("No, I said Potola, not Paola.", session="first", minutes=2, name="t3"),
    said("I live in Lisbon now.", session="second", minutes=10_000, name="t4"),
    said("I went to Bruges with Hannelore.", session="gone", minutes=20_000, name="t5"),
    said(
        "I live in Utrecht, and I like ünïcode 🐕.",
        user="ben",
        speaker=None,
        session="first",
        name="t1",
    ),
)

CAR: Final = "I drive a grey Skoda Octavia."
NOTES: Final = (
    "The spare key is under the third flower pot.",
    "The boiler is serviced every May by Kessler.",
    "My own vehicle is one of those Octavias, grey.",
    *(f"The {plant} in the garden needs water." for plant in ("rose", "lily", "fern", "oak")),
    *(f"The {language} course has homework." for language in ("Czech", "Greek", "Welsh", "Thai")),
)
IMPORTS: Final = ("My cousin Rolf plays the cello.", "My neighbour Zelda keeps bees.")


async def make(path: Path) -> None:
    """Remembers the turns, stores memories and changes them, learns from a reply, and forgets."""

    async def call(name: str, **arguments: Any) -> Any:  # noqa: ANN401 - of the tool
        return await tool(name).call(memory, "ana", arguments)

    async with Memory.open(path, encoder=LetterEncoder()) as memory:
        for turn in TURNS:
            await memory.remember(turn)
        await memory.end_session(user_id="ana", session_id="first")
        await memory.settle()
        car = await memory.store_memory(CAR, user_id="ana", context={"tags": ["car"]})
        await memory.store_memory(CAR, user_id="ana")
        notes = [
            (await memory.store_memory(text, user_id="ana", context={"category": "contexts"})).id
            for text in NOTES
        ]
        await call("edit_memory", id=notes[0], content="The spare key is under the mat.")
        await call("merge_memories", into=car.id, ids=[notes[2]])
        merged = await call("merge_memories", into=notes[3], ids=[notes[4]])
        await call("undo_decision", decision=merged["decision"])
        await call("edit_memory", id=notes[1], holds=False, tags=["house"], note="tepid")
        await call("evolve_categories")
        for number, text in enumerate(IMPORTS):
            source = path.with_name(f"{number}.json")
            source.write_text(json.dumps([{"role": "user", "content": text}]), "utf-8")
            await call("import_memories", file=str(source))
            await memory.settle()
        (latest,) = (await call("memory_decisions", limit=1))["decisions"]
        await call("undo_decision", decision=latest["id"])
        await memory.forget(user_id="ana", session_id="gone", grace=timedelta(days=36_500))
        block = await memory.recall(
            QUESTION, user_id="ana", session_id="second", at=START + timedelta(days=30)
        )
        await memory.feedback(block, reply="Potola!")
        await memory.settle()


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        made = Path(folder) / "memory.db"
        asyncio.run(make(made))
        FILE.write_bytes(lzma.compress(made.read_bytes(), preset=9))
