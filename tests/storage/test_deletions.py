"""What is forgotten with a time of grace.

Hidden from everything at once, brought back as it was, and erased when the time is over.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem import InvalidInput, Memory, Options
from hotmem.memory import runtime
from hotmem.models import Language
from hotmem.options import BackgroundOptions
from hotmem.portability import importer
from hotmem.storage import queries
from hotmem.storage.queries.deletions import FOREIGN_KEYS, NOT_KEPT, USER_TABLES
from hotmem.storage.queries.jobs import UserRotation
from hotmem.storage.sqlite.connection import Connection, connect
from hotmem.tools.editing import EditArguments, edit_memory
from tests.conversation import START, said, turn_record, turns_told, user_of, write_records
from tests.letters import LetterEncoder
from tests.storage.test_erasure import copies
from tests.thoroughness import examples

SERVED = UserRotation()

SECRET = "Xylomander"
DAY = timedelta(days=1)
SOON = timedelta(seconds=0.2)
LATER = START + timedelta(days=100)
EAGER = Options(background=BackgroundOptions(idle_s=0.1))
LINES = (
    f"My dog is called {SECRET}.",
    f"{SECRET} lives in Porto, I think.",
    f"My dog is called Paola. No, I said {SECRET}, not Paola.",
    f"We decided to call {SECRET} tomorrow because of the flowers.",
    "My dog is called Paola.",
    "I live in Braga.",
    "I moved to Utrecht last year, and I like it.",
    "We decided to paint the kitchen yellow.",
    "Just kidding!",
)
QUESTIONS = (
    "Where do I live?",
    f"What do you know of {SECRET}?",
    "What is my dog called?",
    "What did we decide?",
)
WAYS: dict[str, dict[str, Any]] = {
    "entity": {"entity": SECRET},
    "session": {"session_id": "s1"},
    "turns": {"turn_ids": ["t0", "t3", "t4"]},
    "time": {"after": START + timedelta(hours=2), "before": START + timedelta(days=2)},
    "everything": {"everything": True},
}


async def tell(memory: Memory, lines: Sequence[tuple[int, int]]) -> None:
    """Ana tells lines in sessions, asks and is answered."""
    for number, (line, session) in enumerate(lines):
        await memory.remember(
            said(
                LINES[line],
                session=f"s{session}",
                minutes=session * 24 * 60 + number,
                name=f"t{number}",
            )
        )
    for session in {session for _, session in lines}:
        await memory.end_session(user_id="ana", session_id=f"s{session}")
    await memory.settle()
    block = await memory.recall(QUESTIONS[1], user_id="ana", at=LATER)
    await memory.feedback(block, reply=" ".join(item.text for item in block.items))


async def everything_seen(memory: Memory) -> list[str]:
    """All that any way of reading tells of Ana."""
    seen = [line async for line in memory.export("ana")]
    for question in QUESTIONS:
        block = await memory.recall(question, user_id="ana", at=LATER)
        seen.append(
            f"{block.text} "
            f"{[(one.memory_id, one.turn_ids, one.mark, one.relevance) for one in block.items]}"
        )
    seen.append(repr((await memory.search_memory(SECRET, user_id="ana", at=LATER)).results))
    seen.append(repr(await memory.opening(user_id="ana", at=LATER)).split("id=")[0])
    seen = [line.replace(f"“What do you know of {SECRET}?”", "") for line in seen]
    return [
        *seen,
        repr(await memory.lookup.vocabulary("ana")),
        repr(await memory.lookup.summary(user_id="ana", session_id="s1")),
    ]


def rows(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of the tables that deletions keep."""
    with closing(connect(path, read_only=True)) as conn:
        held = {
            relation: sorted(conn.execute(f"SELECT * FROM {relation}").fetchall(), key=repr)
            for relation in FOREIGN_KEYS
        }
        words = {
            kind: conn.execute(f"SELECT rowid FROM {kind}_words").fetchall()
            for kind in ("passage", "memory")
        }
        return held | {f"{kind}_words": sorted(found) for kind, found in words.items()}


def unaccessed(seen: Sequence[str]) -> list[str]:
    """The same but for how often, and when, memories were looked at: looking counts."""
    return [
        re.sub(
            r'"?access(?:es|ed_at)"?[=:] ?[^,)}]+'
            r"|last_accessed=(?:None|datetime[^)]*\)|[^,)]*)|block=\w+",
            "",
            line,
        )
        for line in seen
    ]


@pytest.mark.parametrize("way", WAYS)
def test_brought_back_it_is_as_it_was(way: str, language: Language) -> None:
    @settings(max_examples=examples(8))
    @given(
        st.lists(
            st.tuples(st.integers(0, len(LINES) - 1), st.integers(0, 2)), min_size=1, max_size=7
        )
    )
    def whatever_is_told(lines: list[tuple[int, int]]) -> None:
        async def run(path: Path) -> None:
            async with Memory.open(path, encoder=LetterEncoder(), language=language) as memory:
                await tell(memory, [(0, 1), (4, 1), *lines])
                before, held = await everything_seen(memory), await asyncio.to_thread(rows, path)
                receipt = await memory.forget(user_id="ana", grace=DAY, **WAYS[way])
                assert receipt.restorable_until is not None and "can be brought back" in str(
                    receipt
                )
                if way in ("entity", "session", "everything"):
                    assert (
                        memory.runtime.suppression.hides(f"Tell me of {SECRET}.", user_id="ana")
                        or way == "session"
                    )
                await memory.settle()
                restored = await memory.restore(user_id="ana")
                assert restored is not None and restored.removed == receipt
                assert await asyncio.to_thread(rows, path) == held
                assert unaccessed(await everything_seen(memory)) == unaccessed(before)
                assert not await memory.runtime.database.read_all(queries.maintenance.faults)
                assert not memory.runtime.suppression.hides(f"Tell me of {SECRET}.", user_id="ana")
                assert await memory.restore(user_id="ana") is None

        with TemporaryDirectory() as folder:
            asyncio.run(run(Path(folder, "memory.db")))

    whatever_is_told()


@pytest.fixture
async def memory(database: Path, language: Language) -> AsyncIterator[Memory]:
    async with Memory.open(database, EAGER, encoder=LetterEncoder(), language=language) as opened:
        await tell(opened, [(0, 1), (4, 1), (1, 1), (3, 2), (7, 2), (5, 0)])
        yield opened


@pytest.mark.parametrize("way", ["entity", "everything"])
async def test_it_is_hidden_from_everything_at_once(way: str, memory: Memory) -> None:
    await memory.forget(user_id="ana", grace=DAY, **WAYS[way])
    await memory.settle()
    seen = await everything_seen(memory)
    seen += [
        repr(await memory.memories("ana", past=True)),
        repr(await memory.subcategories.of_user("ana")),
    ]
    read, user = memory.runtime.database.read, await user_of(memory.runtime.database)
    seen.append(repr(await read(queries.job_failures.located, user, SECRET, 10)))
    seen.append(repr(await read(queries.advice.mentions, user, None, 100)))
    assert not [
        line
        for line in seen
        if SECRET.casefold() in line.casefold() and "Nothing is known" not in line
    ]
    assert not await memory.runtime.database.read_all(queries.maintenance.faults)


async def test_it_is_erased_when_its_time_is_over(memory: Memory, database: Path) -> None:
    await memory.forget(user_id="ana", entity=SECRET, grace=SOON)
    assert await copies(database) > 0, "what can be brought back is there"
    for _ in range(50):
        if not await copies(database):
            break
        await asyncio.sleep(0.1)
    assert await copies(database) == 0
    assert (
        await memory.restore(user_id="ana") is None
        and await memory.lookup.restorable("ana") is None
    )


async def test_who_is_forgotten_whole_is_unknown_when_the_time_is_over(
    memory: Memory, database: Path
) -> None:
    await memory.forget(user_id="ana", everything=True, grace=SOON)
    for _ in range(50):
        if await memory.runtime.database.read_all(queries.users.find, "ana") is None:
            break
        await asyncio.sleep(0.1)
    assert await memory.runtime.database.read_all(queries.users.find, "ana") is None
    await memory.close()
    assert await copies(database) == 0


@pytest.mark.parametrize("way", [way for way in WAYS if way != "time"])
async def test_what_is_forgotten_for_good_is_erased_where_it_was_kept(
    way: str, memory: Memory, database: Path
) -> None:
    await memory.forget(user_id="ana", entity=SECRET, grace=DAY)
    await memory.forget(user_id="ana", **({"turn_ids": ["t0"]} if way == "turns" else WAYS[way]))
    assert await memory.restore(user_id="ana") is None
    assert await copies(database) == 0


async def test_what_has_nothing_to_do_with_it_stays_kept(memory: Memory) -> None:
    await memory.forget(user_id="ana", entity=SECRET, grace=DAY)
    await memory.forget(user_id="ana", entity="Braga")
    assert await memory.restore(user_id="ana") is not None
    assert any(SECRET in text for text in await turns_told(memory)) and not any(
        "Braga" in text for text in await turns_told(memory)
    )


@pytest.mark.parametrize("way", ["entity", "session", "everything"])
async def test_what_was_said_since_stays(way: str, memory: Memory) -> None:
    before = await turns_told(memory)
    await memory.forget(user_id="ana", grace=DAY, **WAYS[way])
    since = ("My cat is called Paola.", "I met Rui in Braga.", f"I like {SECRET} cheese.")
    for number, text in enumerate(since):
        await memory.remember(
            said(text, session="s1", minutes=3 * 24 * 60 + number, name=f"since{number}")
        )
    await memory.end_session(user_id="ana", session_id="s1")
    await memory.settle()
    known = {one.text for one in await memory.memories("ana")}
    assert await memory.restore(user_id="ana") is not None
    await memory.settle()
    assert sorted(await turns_told(memory)) == sorted([*before, *since])
    assert known <= {one.text for one in await memory.memories("ana", past=True)}
    assert not await memory.runtime.database.read_all(queries.maintenance.faults)
    assert "Rui" in (await memory.recall("Whom did I meet in Braga?", user_id="ana", at=LATER)).text
    assert SECRET in (await memory.recall("What is my dog called?", user_id="ana", at=LATER)).text


async def test_merges_edits_and_tags_come_back(memory: Memory, database: Path) -> None:
    kept = await memory.store_memory(f"The boiler of {SECRET} has the number 44.", user_id="ana")
    edited = await edit_memory(
        memory,
        "ana",
        EditArguments(
            id=kept.id, content=f"The boiler of {SECRET} has the number 45.", tags=("boiler",)
        ),
    )
    other = await memory.store_memory("Walnuts are in the cellar.", user_id="ana")
    user = await user_of(memory.runtime.database)
    await memory.runtime.database.write(
        queries.decisions.merge, user, edited.id, [other.id], "the same", START
    )
    await memory.settle()
    held = await asyncio.to_thread(rows, database)
    await memory.forget(user_id="ana", entity=SECRET, grace=DAY)
    assert await memory.restore(user_id="ana") is not None
    assert await asyncio.to_thread(rows, database) == held
    assert not await memory.runtime.database.read_all(queries.maintenance.faults)


async def test_what_comes_back_with_an_import_is_there_once(memory: Memory, tmp_path: Path) -> None:
    before = await turns_told(memory)
    file = tmp_path / "export.jsonl"
    await asyncio.to_thread(
        file.write_text, "\n".join([line async for line in memory.export("ana")]), "utf-8"
    )
    await memory.forget(user_id="ana", entity=SECRET, grace=DAY)
    assert (await memory.import_records(file)).forgotten
    await memory.import_records(file, with_forgotten=True)
    await memory.settle()
    assert await memory.restore(user_id="ana") is not None
    await memory.settle()
    assert sorted(await turns_told(memory)) == sorted(before)
    assert not await memory.runtime.database.read_all(queries.maintenance.faults)


async def test_what_came_with_an_import_that_was_taken_back_stays_away(
    memory: Memory, tmp_path: Path
) -> None:
    line = turn_record(f"{SECRET} came with it.", "i1", session="s9")
    file = await asyncio.to_thread(write_records, tmp_path / "turns.jsonl", [line])
    before = await turns_told(memory)
    assert (await memory.import_records(file)).turns == 1
    await memory.settle()
    await memory.forget(user_id="ana", entity=SECRET, grace=DAY)
    user = await user_of(memory.runtime.database)
    (done,) = [
        one
        for one in await memory.runtime.database.read(queries.decisions.of_user, user, -1)
        if one.action == "imported"
    ]
    await memory.runtime.database.write(queries.undoing.undo, user, done.id, START)
    await importer.revert_imports(memory.runtime.storage, memory.runtime.priority)
    assert await memory.restore(user_id="ana") is not None
    assert sorted(await turns_told(memory)) == sorted(before)
    assert not await memory.runtime.database.read_all(queries.maintenance.faults)


class OtherLetters(LetterEncoder):
    """The same under another name: to the file another encoder."""

    name = "other pairs of letters"


async def test_with_another_encoder_it_is_embedded_anew(
    database: Path, language: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "load_former", lambda name: None)  # torch, for nothing
    async with Memory.open(database, encoder=LetterEncoder(), language=language) as memory:
        await tell(memory, [(0, 1), (4, 1), (5, 0)])
        before = await turns_told(memory)
        await memory.forget(user_id="ana", entity=SECRET, grace=DAY)
    async with Memory.open(database, encoder=OtherLetters(), language=language) as memory:
        await memory.settle()
        assert await memory.restore(user_id="ana") is not None
        assert await memory.runtime.database.read_all(
            queries.embedding.waiting, memory.runtime.write.encoder_id, 10, SERVED
        )
        await memory.settle()
        assert sorted(await turns_told(memory)) == sorted(before)
        assert (
            SECRET in (await memory.recall("What is my dog called?", user_id="ana", at=LATER)).text
        )
        assert not await memory.runtime.database.read_all(queries.maintenance.faults)


async def test_nothing_forgotten_is_nothing_kept(memory: Memory) -> None:
    receipt = await memory.forget(user_id="ana", entity="Oleander", grace=DAY)
    assert (
        receipt.restorable_until is None
        and not receipt.anything
        and await memory.lookup.restorable("ana") is None
    )
    assert await memory.restore(user_id="nobody") is None
    with pytest.raises(InvalidInput, match="grace"):
        await memory.forget(user_id="ana", entity=SECRET, grace=timedelta())


def test_every_table_is_kept_or_is_known_not_to_be(conn: Connection) -> None:
    """A new table with something of a user's has to be added to those that a deletion keeps."""
    tables = {
        name
        for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if "_words" not in name and "sqlite" not in name
    }
    assert tables == set(FOREIGN_KEYS) | NOT_KEPT
    owned = {
        name
        for name in tables
        if ("users",)
        in conn.execute(f"SELECT \"table\" FROM pragma_foreign_key_list('{name}')").fetchall()
    }
    assert owned == set(USER_TABLES) | {"deletions", "failures", "leases", "audit"}
