"""HotMem without pipecat: remember on Monday, ask on Thursday.

    pip install pipecat-hotmem
    python quickstart.py

It creates `memory.db` in the current folder.
"""

import asyncio
from datetime import UTC, datetime

import hotmem


async def main() -> None:
    """Store two turns, and print what a bot would get for a question."""
    async with hotmem.Memory.open("memory.db") as memory:
        monday = datetime(2026, 11, 2, 10, 0, tzinfo=UTC)
        for text in ("My dog is called Potola.", "I'm allergic to peanuts."):
            await memory.remember(hotmem.Turn("ana", "monday", "user", text, monday, speaker="Ana"))
        await memory.end_session(user_id="ana", session_id="monday")
        await memory.settle()  # a bot does not wait: facts are extracted in the background
        block = await memory.recall("What's my dog called?", user_id="ana", session_id="thursday")
        print(block.text)


if __name__ == "__main__":
    asyncio.run(main())
