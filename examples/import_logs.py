"""Import of old conversations: transcripts (`Ana: text`), chat messages, mem0 and HotMem exports.

    pip install pipecat-hotmem
    python import_logs.py USER FILE …

Repeating an import adds nothing twice. `hotmem undo` reverts one, `hotmem decisions` lists them.
"""

import asyncio
import sys

from hotmem import Memory
from hotmem.tools.files import ImportArguments, import_memories

BOTS = ("Helper",)
"""Names of the bot in transcripts."""

ZONE = "Europe/Lisbon"
"""Time zone of dates that state none."""


async def main(user_id: str, files: list[str]) -> None:
    """Import files as the conversations of one user."""
    async with Memory.open("memory.db") as memory:
        for file in files:
            arguments = ImportArguments(file=file, bots=BOTS, timezone=ZONE)
            report = await import_memories(memory, user_id, arguments)
            print(f"{file}: {report.form}, turns: {report.turns}, known: {report.known}")
            for note in (*report.left_out.items(), *report.unsure):
                print(note)
        await memory.settle()
        for found in await memory.memories(user_id):
            print(f"{found.said_at:%Y-%m-%d} {found.text}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
