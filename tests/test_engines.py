"""The engines are alike: after the same conversation, and after an export and import."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from hotmem import Memory
from hotmem.core.location import locate
from hotmem.portability.jsonl import SKIPPED_TYPES
from hotmem.types import Leftovers
from tests.conversation import START, OpenMemory, life
from tests.postgres import VERSIONS
from tests.tables import tables

CASES = tables(__file__)

FIRST, *_ = VERSIONS
USERS = ("ana", "ben")
LATER = START + timedelta(days=60)
QUESTIONS = CASES["questions"]


async def converse(memory: Memory) -> None:
    """Two users talk for four weeks."""
    for user in USERS:
        for turn in life(user, 40, 10):
            await memory.remember(turn)
        for week in range(4):
            await memory.end_session(user_id=user, session_id=f"week {week}")
    await memory.settle()


async def recalled(memory: Memory) -> list[Any]:
    """Blocks, their items and what was known of the questions."""
    return [
        (block.text, [(one.kind, one.relevance, one.confidence) for one in block.items])
        for user in USERS
        for question in QUESTIONS
        for block in [await memory.recall(question, user_id=user, session_id="new", at=LATER)]
    ]


async def exports(memory: Memory) -> list[list[str]]:
    """The exports of all users, without what is not imported and the number of records."""
    left_out = {*SKIPPED_TYPES, "end"}
    return [
        sorted(
            [line async for line in memory.export(user) if json.loads(line)["type"] not in left_out]
        )
        for user in USERS
    ]


async def test_engines_answer_alike_after_the_same_conversation_and_after_an_import(
    tmp_path: Path, postgres_url: Callable[[str], str], open_memory: OpenMemory
) -> None:
    file, server = tmp_path / "memory.db", locate(postgres_url(FIRST))
    blocks = []
    for location in (file, server):
        async with open_memory(location) as memory:
            await converse(memory)
            blocks.append(await recalled(memory))
    assert blocks[0] == blocks[1]
    assert any(text for text, _ in blocks[0])

    for source, target in ((file, locate(postgres_url(FIRST))), (server, tmp_path / "other.db")):
        async with open_memory(source) as ours, open_memory(target) as theirs:
            told = await exports(ours)
            for user in USERS:
                path = tmp_path / f"{user}.jsonl"
                path.write_text("".join([f"{line}\n" async for line in ours.export(user)]), "utf-8")
                await theirs.import_records(path)
            await theirs.settle()
            assert await exports(theirs) == told
            assert await recalled(theirs) == await recalled(ours)


async def test_the_receipt_says_where_copies_remain(
    tmp_path: Path, postgres_url: Callable[[str], str], open_memory: OpenMemory
) -> None:
    said = {}
    for location in (tmp_path / "memory.db", locate(postgres_url(FIRST))):
        async with open_memory(location) as memory:
            await memory.remember(next(life("ana", 1, 1)))
            receipt = await memory.forget(user_id="ana", everything=True)
            said[receipt.leftovers] = str(receipt)
    assert set(said) == {Leftovers.NONE, Leftovers.SERVER}
    assert "Nothing of it is left" in said[Leftovers.NONE]
    assert "until they are vacuumed" in said[Leftovers.SERVER]
    assert "Nothing of it is left" not in said[Leftovers.SERVER]
