"""Opening a file of the default encoder with another one.

It answers at once, and is identical to a new file after re-embedding.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from eval.encoder.export import published_encoder
from hotmem import Memory, Options
from hotmem.models import CachedEncoder, EncodedText, Language
from hotmem.options import BackgroundOptions
from hotmem.storage.queries import reembedding
from hotmem.storage.sqlite.connection import connect
from hotmem.tools.editing import EditArguments, edit_memory
from tests.conversation import START, said
from tests.tables import tables

CASES = tables(__file__)

LATER = START + timedelta(days=3)

TOLD = CASES["told"]

ASKED = CASES["asked"]


@pytest.fixture(scope="module")
def newest() -> Iterator[CachedEncoder]:
    """An encoder that files of the default one are opened with."""
    yield CachedEncoder(published_encoder(), 1000)


async def tell(memory: Memory) -> None:
    for number, text in enumerate(TOLD):
        await memory.remember(
            said(text, session=f"s{number // 3}", minutes=number, name=f"t{number}")
        )
    for session in ("s0", "s1"):
        await memory.end_session(user_id="ana", session_id=session)
    await memory.store_memory("The spare key is under the blue flowerpot.", user_id="ana")
    await memory.settle()


def embedded(file: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return the embeddings of passages and memories by text, and the encoder's name."""
    with closing(connect(file, read_only=True)) as conn:
        assert reembedding.former_encoder(conn) is None
        return {
            "passages": conn.execute(
                """SELECT t.text, p.vector, e.bits, x.width, x.signs FROM passages p
                   JOIN turns t ON t.id = p.turn JOIN passage_entries e ON e.id = p.id
                   JOIN passage_signs x ON x.passage = p.id ORDER BY t.text"""
            ).fetchall(),
            "memories": conn.execute(
                """SELECT m.text, m.vector, e.bits, x.width, x.signs FROM memories m
                   JOIN memory_entries e ON e.id = m.id
                   LEFT JOIN memory_signs x ON x.memory = m.id ORDER BY m.text"""
            ).fetchall(),
            "encoder": conn.execute("SELECT value FROM meta WHERE key = 'encoder'").fetchall(),
        }


async def test_a_process_with_the_former_encoder_stores_turns_and_leaves_embedding_to_the_new_one(
    database: Path,
    encoder: CachedEncoder,
    newest: CachedEncoder,
    language: Language,
) -> None:
    """As when containers of a new version replace those of an old one."""
    async with Memory.open(database, encoder=encoder, language=language) as older:
        await tell(older)
        async with Memory.open(database, Options(), encoder=newest, language=language) as newer:
            assert (
                "peanuts"
                in (
                    await older.recall(
                        "Which food must my sister not have?", user_id="ana", at=LATER
                    )
                ).text
            )
            await older.remember(
                said("My cousin Ines keeps bees on her roof.", session="s2", minutes=90, name="t90")
            )
            await older.store_memory("Ines sells the honey at the Saturday market.", user_id="ana")
            kept = await older.store_memory("The gate code is 4471.", user_id="ana")
            await edit_memory(
                older,
                "ana",
                EditArguments(id=kept.id or "", content="The gate code is 4472.", tags=("gate",)),
            )
            async with asyncio.timeout(20):
                await older.settle()
            await newer.settle()
            for memory in (older, newer):
                assert (
                    "bees" in (await memory.recall("Who has bees?", user_id="ana", at=LATER)).text
                )
    with closing(connect(database, read_only=True)) as conn:
        assert conn.scalar("SELECT count(*) FROM passages WHERE vector IS NULL") == 0
    again = database.with_name("again.db")
    async with Memory.open(again, encoder=newest, language=language) as memory:
        await tell(memory)
        await memory.remember(
            said("My cousin Ines keeps bees on her roof.", session="s2", minutes=90, name="t90")
        )
        for text in (
            "Ines sells the honey at the Saturday market.",
            "The gate code is 4471.",
            "The gate code is 4472.",
        ):
            await memory.store_memory(text, user_id="ana")
        await memory.settle()
    assert embedded(database) == embedded(again)


class Refusing(CachedEncoder):
    """An encoder that fails on one text."""

    def encode_tokens(self, texts: Sequence[str]) -> list[EncodedText]:
        if any("Lisbon" in text for text in texts):
            raise ValueError("it cannot be read")
        return super().encode_tokens(texts)


async def test_a_text_that_the_new_encoder_rejects_is_found_by_its_words(
    database: Path, encoder: CachedEncoder, language: Language
) -> None:
    async with Memory.open(database, encoder=encoder, language=language) as memory:
        await tell(memory)
    options = Options(background=BackgroundOptions(attempts=1))
    refusing = Refusing(published_encoder(), 1000)
    async with Memory.open(database, options, encoder=refusing, language=language) as memory:
        await memory.settle()
        assert (
            "2019"
            in (
                await memory.recall("Where did I move in the spring?", user_id="ana", at=LATER)
            ).text
        )
        assert (
            "Tomas"
            in (
                await memory.recall("Who do I play board games with?", user_id="ana", at=LATER)
            ).text
        )


async def test_a_file_of_another_encoder_answers_at_once_and_ends_identical_to_a_new_one(
    tmp_path: Path,
    encoder: CachedEncoder,
    newest: CachedEncoder,
    language: Language,
) -> None:
    older, newer = tmp_path / "older.db", tmp_path / "newer.db"
    async with Memory.open(older, encoder=encoder, language=language) as memory:
        await tell(memory)
    async with Memory.open(newer, encoder=newest, language=language) as memory:
        await tell(memory)
    options = Options()
    async with Memory.open(older, options, encoder=newest, language=language) as memory:
        for question, answer in ASKED:
            block = await memory.recall(question, user_id="ana", at=LATER)
            assert answer in block.text, (question, block.text)
        await memory.settle()
        assert memory.runtime.recall.former.encoder is None, (
            "it is released when it is no longer needed"
        )
    assert embedded(older) == embedded(newer)
