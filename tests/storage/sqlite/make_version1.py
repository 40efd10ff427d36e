"""Makes `version1.db`, a memory file as the first version wrote it.

    python -m tests.storage.sqlite.make_version1

It was run once; the file is kept, so that every later version shows that it still opens and answers
it.
"""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Final

from hotmem import Memory
from hotmem.types import Turn
from tests.conversation import START, said
from tests.letters import LetterEncoder

FILE: Final = Path(__file__).with_name("version1.db")

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
    said(
        "I live in Utrecht, and I like ünïcode 🐕.",
        user="ben",
        speaker=None,
        session="first",
        name="t1",
    ),
)


async def make(path: Path) -> None:
    """Remembers the turns, ends a session and learns from a reply."""
    async with Memory.open(path, encoder=LetterEncoder()) as memory:
        for turn in TURNS:
            await memory.remember(turn)
        await memory.end_session(user_id="ana", session_id="first")
        await memory.settle()
        block = await memory.recall(
            QUESTION, user_id="ana", session_id="second", at=START + timedelta(days=30)
        )
        await memory.feedback(block, reply="Potola!")


if __name__ == "__main__":
    FILE.unlink(missing_ok=True)
    asyncio.run(make(FILE))
