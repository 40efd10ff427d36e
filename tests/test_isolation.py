"""A user never sees, exports or removes rows of another user, whatever the ids contain."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem import Memory
from hotmem.models import CachedEncoder, Language
from tests.conversation import START, OpenMemory, said
from tests.thoroughness import examples

HOSTILE = (
    "u1", "u11", "u2", "1", "2", "a", "A", "ａ", "ä", "a\u0308", "ana", "ana ", " ana", "Ana",
    "ana:1", "ana%", "%", "_", "*", "'", '"', "''", "\\",
    "--", ";", "' OR '1'='1", '" OR ""="', "'); DROP TABLE turns; --",
    "x' UNION SELECT * FROM turns --", "owner : u1", "NULL", "None", "0", "-1",
    "monday", "🐕", "\u202e",
)  # fmt: skip

ids = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=20),
).filter(lambda name: "\ufeff" not in name)
pairs = (
    st.lists(ids, min_size=2, max_size=2, unique=True)
    | ids.map(lambda name: [name, f"{name}1"])
    | ids.map(lambda name: [name, f"{name} "])
)

QUESTION = "What's my dog called, and where do I live?"


async def lines(memory: Memory, user: str) -> list[str]:
    return [line async for line in memory.export(user)]


async def remember_facts(memory: Memory, user: str, dog: str, home: str) -> None:
    await memory.remember(said(f"My dog is called {dog}.", user=user, name="t1"))
    await memory.remember(said(f"I live in {home}.", user=user, minutes=1, name="t2"))
    await memory.end_session(user_id=user, session_id="monday")


async def seen(memory: Memory, user: str) -> str:
    """Return everything that a user can read of a memory."""
    block = await memory.recall(
        QUESTION, user_id=user, session_id="monday", at=START + timedelta(days=1)
    )
    summary = await memory.lookup.summary(user_id=user, session_id="monday")
    return "\n".join(
        [
            block.text,
            *(known.text for known in await memory.memories(user, past=True)),
            repr(summary),
            *await lines(memory, user),
        ]
    )


async def kept_apart(
    path: Path, one: str, other: str, encoder: CachedEncoder, language: Language
) -> None:
    async with Memory.open(path, encoder=encoder, language=language) as memory:
        await remember_facts(memory, one, "Potola", "Porto")
        await remember_facts(memory, other, "Wilbur", "Utrecht")
        await memory.settle()
        of_one, of_other = await seen(memory, one), await seen(memory, other)
        assert (
            "Potola" in of_one
            and "Porto" in of_one
            and "Wilbur" not in of_one
            and "Utrecht" not in of_one
        )
        assert (
            "Wilbur" in of_other
            and "Utrecht" in of_other
            and "Potola" not in of_other
            and "Porto" not in of_other
        )
        assert {json.loads(line)["user_id"] for line in await lines(memory, one)} == {one}

        block = await memory.recall(QUESTION, user_id=one, at=START + timedelta(days=1))
        await memory.feedback(block, reply="Potola, and you live in Porto.")
        weights = await memory.learning.weights(other)
        foreign = (await memory.memories(one))[0].id
        assert (await memory.forget(user_id=other, memory_id=foreign)).memories == 0
        assert (await memory.forget(user_id=other, entity="Potola")).turns == 0
        assert (await memory.forget(user_id=other, session_id="tuesday")).turns == 0
        await memory.settle()
        assert "Potola" in await seen(memory, one)

        assert (await memory.forget(user_id=other, session_id="monday")).turns == 2
        await memory.settle()
        assert "Wilbur" not in await seen(memory, other)
        assert "Potola" in await seen(memory, one) and "Porto" in await seen(memory, one)
        assert await memory.learning.weights(other) == weights

        assert (await memory.forget(user_id=one, everything=True)).turns == 2
        await remember_facts(memory, other, "Wilbur", "Utrecht")
        await memory.settle()
        assert "Potola" not in await seen(memory, one) and not await lines(memory, one)
        assert "Potola" not in await seen(memory, other) and "Wilbur" in await seen(memory, other)


def test_no_id_reaches_rows_of_another_user(encoder: CachedEncoder, language: Language) -> None:
    @settings(max_examples=examples(30))
    @given(pairs)
    def for_any_pair(pair: list[str]) -> None:
        with TemporaryDirectory() as folder:
            asyncio.run(kept_apart(Path(folder, "memory.db"), pair[0], pair[1], encoder, language))

    for_any_pair()


def test_many_users_of_one_file_are_isolated(database: Path, open_memory: OpenMemory) -> None:
    async def run() -> None:
        async with open_memory(database) as memory:
            for number, user in enumerate(HOSTILE):
                await memory.remember(
                    said(
                        f"My lucky number is {1000 + number}.",
                        user=user,
                        session="same",
                        name="same",
                    )
                )
            await memory.settle()
            for number, user in enumerate(HOSTILE):
                block = await memory.recall("What is my lucky number?", user_id=user)
                assert str(1000 + number) in block.text
                assert not any(
                    str(1000 + wrong) in block.text
                    for wrong in range(len(HOSTILE))
                    if wrong != number
                )

    asyncio.run(run())
