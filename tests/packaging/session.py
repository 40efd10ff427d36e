"""A complete session of a bot without a network, run by `test_session`."""

import asyncio
import sys
from datetime import UTC, datetime
from pathlib import Path

from tests.conversation import remember
from tests.packaging.guard import forbid_network


async def by_hand(path: Path) -> None:
    """Call every main method of `Memory`."""
    from hotmem import Memory, Turn

    async with Memory.open(path) as memory:
        await remember(
            memory,
            Turn(
                "ana",
                "monday",
                "user",
                "My dog is called Potola.",
                datetime(2026, 3, 2, 9, tzinfo=UTC),
                speaker="Ana",
            ),
            end="monday",
        )
        block = await memory.recall("What's my dog called?", user_id="ana")
        assert "Potola" in block.text
        await memory.feedback(block, reply="She's called Potola!")
        await memory.store_memory("The boiler's serial number is 44 B 19.", user_id="ana")
        assert (await memory.search_memory("boiler", user_id="ana")).results
        await memory.subcategories.evolve("ana")
        assert (await memory.forget(user_id="ana", everything=True)).turns == 1


async def in_a_pipeline(path: Path) -> None:
    """Run a bot with voice activity detection for two turns."""
    from pipecat.audio.vad.silero import SileroVADAnalyzer

    from hotmem.pipecat import HotMemProcessor
    from tests.pipecat.scene import scene

    detector = SileroVADAnalyzer(sample_rate=16_000)
    detector.voice_confidence(bytes(2 * detector.num_frames_required()))
    processor = HotMemProcessor(path, user_id="ana", deadline_ms=5_000)
    async with scene(processor, ["Nice name!", "Potola."]) as bot:
        await bot.exchange("My dog is called Potola.")
        await bot.exchange("What's my dog called?")
    assert processor.failures == 0


async def main(folder: Path) -> None:
    await by_hand(folder / "by_hand.db")
    await in_a_pipeline(folder / "pipeline.db")


if __name__ == "__main__":
    forbid_network(Path(sys.argv[2]))
    import hotmem  # noqa: F401 - before pipecat, as the README says

    asyncio.run(main(Path(sys.argv[1])))
    print("done")
