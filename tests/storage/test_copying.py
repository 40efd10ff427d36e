"""Copies of memories: equal to their source between engines, resumable, and never half."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hotmem import Memory, Options
from hotmem.core.location import Location, locate
from hotmem.errors import InvalidInput, StoreError, StoreUnusable
from hotmem.portability.importer import hotmem_source
from hotmem.storage import copying, open_storage, queries
from hotmem.storage.copying import tables
from hotmem.storage.database import Connection, Database
from hotmem.storage.postgres import diagnosis as of_server
from hotmem.storage.search.searches import LexicalSearch
from hotmem.storage.sqlite import diagnosis as of_file
from hotmem.storage.sqlite.connection import connect
from hotmem.tools.editing import EditArguments, edit_memory
from hotmem.types import EvidenceKind
from tests.conversation import (
    HOSTILE,
    START,
    OpenMemory,
    remember,
    said,
    turn_record,
    undo,
    user_of,
    write_records,
)
from tests.postgres import VERSIONS
from tests.victim import copy_until_killed
from tests.warm import CONTEXT

FIRST, *_ = VERSIONS
LATER = START + timedelta(days=6)
USERS = ("ana", "ben", "üser ✓")
"""Users who speak; `fill` imports what ana said for another, under the same ids."""

LINES = (
    "My dog is called Potola.",
    "I live in Porto.",
    "My sister Marta has an appointment at the dentist tomorrow at half past three.",
    "I moved to Utrecht last year, and I like it.",
    "My dog is called Paola. No, I said Potola, not Paola.",
    "I am allergic to walnuts, and I work at the hospital.",
    *HOSTILE[:2],
)
QUESTIONS = (
    "What is my dog called?",
    "Where do I live?",
    "When is Marta's appointment?",
    "What did we talk about on Monday?",
    "What am I allergic to?",
    "Who is Xylomander?",
)
Make = Callable[[str], Location]

NOT_COPIED = {
    *("leases", "row_changes", "posting_counts"),
    *(f"{kind}_{part}" for kind in ("passage", "memory") for part in ("words", "postings")),
}
"""Tables of running processes, and the full-text indexes, which are built anew."""


@pytest.fixture
def place(tmp_path: Path, postgres_url: Callable[[str], str]) -> Make:
    """Makes a place for a memory of an engine."""
    numbers = iter(range(9))

    def make(engine: str) -> Location:
        if engine == "sqlite":
            return tmp_path / f"memory {next(numbers)}.db"
        return locate(postgres_url(FIRST))

    return make


@pytest.fixture
def opened(open_memory: OpenMemory) -> Callable[[Location], Memory]:
    """Opens a memory."""
    return lambda location: open_memory(location)


async def fill(memory: Memory, folder: Path) -> None:
    """Turns of three users, who corrected, imported, asked for, and forgot things."""
    for user in USERS:
        for number, line in enumerate(LINES):
            session = "monday" if number < 5 else "tuesday"
            name = f"{user}-{number}"
            await memory.remember(said(line, user=user, session=session, minutes=number, name=name))
    await memory.settle()
    await memory.end_session(user_id="ana", session_id="monday")
    await memory.store_memory("The wifi password is on the fridge.", user_id="ana")
    await memory.settle()
    export = folder / "ana.jsonl"
    export.write_text("".join([f"{line}\n" async for line in memory.export("ana")]), "utf-8")
    await memory.forget(user_id="ben", turn_ids=["ben-5"])
    await memory.forget(user_id="ana", turn_ids=["ana-2"])
    await memory.forget(user_id="ana", turn_ids=["ana-5"], grace=timedelta(days=9))
    known = next(one for one in await memory.memories("ben") if "Utrecht" in one.text)
    await edit_memory(memory, "ben", EditArguments(id=known.id, content="Ben moved to Graz."))
    said_elsewhere = turn_record("My cat is called Xylomander.", "i1", user="ben", speaker="Ben")
    turns = write_records(folder / "turns.jsonl", [said_elsewhere])
    await memory.import_records(turns)
    await memory.settle()
    again = folder / "cleo.jsonl"
    again.write_text(export.read_text("utf-8").replace('"ana"', '"cleo"'), "utf-8")
    await memory.import_records(again)
    await memory.settle()
    block = await memory.recall("What is my dog called?", user_id="ana", session_id="new")
    assert block.text
    await memory.feedback(block, "Your dog is called Potola.")
    await memory.remember(said("We will paint the kitchen yellow.", name="last"))


def untold(_stage: str, _done: int, _whole: int) -> None:
    """Takes no notice of progress."""


async def copied(
    source: Location, target: Location, told: copying.Progress = untold
) -> dict[str, int]:
    async with databases(source, target) as (ours, theirs):
        return await copying.copy_database(ours, theirs, told)


@asynccontextmanager
async def databases(*locations: Location) -> AsyncIterator[list[Database]]:
    found = [open_storage(location).database for location in locations]
    try:
        yield found
    finally:
        for one in found:
            await one.close()


async def contents(location: Location) -> dict[str, Any]:
    """All rows of all tables, by the columns of SQLite."""
    plain = {"user_key"}

    def rows(conn: Connection, table: tables.Table) -> list[Any]:
        keep = [name for name in table.columns if name not in plain]
        return sorted(
            conn.execute(
                f"SELECT {', '.join(keep)} FROM {table.name} WHERE {table.where}"
            ).fetchall(),
            key=repr,
        )

    async with databases(location) as (database,):
        columns = await database.read_all(tables.columns)
        return {
            table.name: await database.read_all(rows, table)
            for table in tables.matched(columns, columns)
        }


async def answers(memory: Memory) -> list[Any]:
    """Everything that users see: exports, memories, blocks with their items and marks."""
    seen: list[Any] = []
    for user in USERS:
        seen.append(sorted([line async for line in memory.export(user)]))
        seen.append(await memory.memories(user, past=True))
        for question in QUESTIONS:
            block = await memory.recall(question, user_id=user, session_id="new", at=LATER)
            seen.append((block.text, block.items))
    return seen


@pytest.mark.parametrize(("engine", "other"), [("sqlite", "postgres"), ("postgres", "sqlite")])
async def test_a_copy_and_its_copy_back_are_equal_to_the_memory(
    place: Make, opened: Callable[[Location], Memory], tmp_path: Path, engine: str, other: str
) -> None:
    source, there, back = place(engine), place(other), place(engine)
    async with opened(source) as memory:
        await fill(memory, tmp_path)
        await memory.settle()
    result = await copied(source, there)
    await copied(there, back)
    before = await contents(source)
    assert await contents(there) == before == await contents(back)
    assert result["users"] == len(USERS) + 1
    async with opened(source) as ours, opened(there) as theirs, opened(back) as again:
        told = await answers(ours)
        assert await answers(theirs) == told == await answers(again)
        for memory in (ours, theirs, again):
            assert not await memory.runtime.database.read_all(queries.maintenance.faults)


@pytest.mark.parametrize(("engine", "other"), [("sqlite", "postgres"), ("postgres", "sqlite")])
async def test_what_was_done_before_a_copy_can_be_undone_after_it(
    place: Make, opened: Callable[[Location], Memory], tmp_path: Path, engine: str, other: str
) -> None:
    source, target = place(engine), place(other)
    async with opened(source) as memory:
        await fill(memory, tmp_path)
    await copied(source, target)
    seen: list[list[Any]] = []
    for location in (source, target):
        async with opened(location) as memory:
            await memory.settle()
            assert await memory.restore(user_id="ana")
            result = await memory.import_records(hotmem_source(tmp_path / "ana.jsonl"))
            assert result.forgotten
            user = await user_of(memory.runtime.database, "ben")
            made = await memory.runtime.database.read(queries.decisions.of_user, user, 20)
            for decision in made:
                if decision.undone_at is None:
                    await undo(memory, decision.id, "ben")
            await memory.settle()
            await remember(memory, said("My cat is called Mila.", name="later"))
            await memory.forget(user_id="ben", entity="Graz")
            seen.append([await texts(memory, user) for user in USERS])
            assert not await memory.runtime.database.read_all(queries.maintenance.faults)
            await memory.forget(user_id="ben", everything=True)
            assert await memory.memories("ben") == []
    assert seen[0] == seen[1]


async def texts(memory: Memory, user: str) -> tuple[list[str], list[str]]:
    """Texts of a user's memories and of the blocks for some questions."""
    blocks = [
        await memory.recall(question, user_id=user, session_id="new", at=LATER)
        for question in QUESTIONS
    ]
    return (
        sorted(one.text for one in await memory.memories(user, past=True)),
        [block.text for block in blocks],
    )


class StopHere(Exception):
    """Interrupts a copy."""


@pytest.mark.parametrize(("engine", "other"), [("sqlite", "postgres"), ("postgres", "sqlite")])
async def test_an_interrupted_copy_is_refused_and_continues_with_a_source_that_has_changed(
    place: Make,
    opened: Callable[[Location], Memory],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    engine: str,
    other: str,
) -> None:
    monkeypatch.setattr(copying, "BLOCK", 7)
    monkeypatch.setattr(tables, "BLOCK", 7)
    source, target = place(engine), place(other)
    async with opened(source) as memory:
        await fill(memory, tmp_path)
        for stage, share in (("copying", 0.3), ("copying", 0.9), ("indexing", 0.5)):

            def stop(at: str, done: int, whole: int, stage: str = stage, s: float = share) -> None:
                if at == stage and done > whole * s:
                    raise StopHere

            with pytest.raises(StopHere):
                await copied(source, target, stop)
            with pytest.raises(StoreUnusable, match="unfinished copy"):
                async with opened(target):
                    pass
            assert "copy" in problems(target)
            await memory.forget(user_id="ana", turn_ids=["ana-3"])
            await remember(memory, f"I like {stage} {share:.0%} of walks.")
        await memory.forget(user_id="ben", everything=True)
    await copied(source, target)
    assert await contents(target) == await contents(source)
    async with opened(target) as memory:
        assert not await memory.runtime.database.read_all(queries.maintenance.faults)


async def test_a_killed_copy_continues_without_writing_again_what_is_there(
    place: Make, opened: Callable[[Location], Memory], tmp_path: Path
) -> None:
    source, target = place("sqlite"), place("postgres")
    async with opened(source) as memory:
        await fill(memory, tmp_path)
    receiver, sender = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=copy_until_killed, args=(source, target, sender))
    process.start()
    sender.close()
    done, whole = 0, 1
    while done < whole / 2:
        _, done, whole = receiver.recv()
    process.kill()
    process.join()
    async with databases(target) as (database,):
        before = await database.read_all(written)
        assert before
    with pytest.raises(StoreUnusable, match="unfinished copy"):
        async with opened(target):
            pass
    await copied(source, target)
    assert await contents(target) == await contents(source)
    async with databases(target) as (database,):
        assert before.items() <= (await database.read_all(written)).items()


def problems(location: Location) -> set[str]:
    """What a diagnosis finds wrong."""
    if isinstance(location, Path):
        found = of_file.diagnosed(location, None)
    else:
        found = of_server.diagnosed(location.url)
    return {one.about for one in found.findings if one.fix}


def written(conn: Connection) -> dict[Any, Any]:
    """The transaction that wrote each turn."""
    return dict(conn.execute("SELECT id, CAST(xmin AS TEXT) FROM turns").fetchall())


@pytest.mark.parametrize(("engine", "other"), [("sqlite", "postgres"), ("postgres", "sqlite")])
async def test_a_source_that_is_written_to_is_copied_as_of_the_beginning(
    place: Make, opened: Callable[[Location], Memory], tmp_path: Path, engine: str, other: str
) -> None:
    source, target, later = place(engine), place(other), place("sqlite")
    async with opened(source) as memory:
        await fill(memory, tmp_path)
        await memory.settle()
        before = await contents(source)
        loop = asyncio.get_running_loop()
        said_meanwhile: list[int] = []

        def speak(stage: str, done: int, _whole: int) -> None:
            if stage == "copying":
                turn = said(f"Meanwhile I had lunch number {done}.", name=f"m{done}")
                asyncio.run_coroutine_threadsafe(memory.remember(turn), loop).result()
                said_meanwhile.append(done)

        async with databases(target) as (theirs,):
            await copying.copy_database(memory.runtime.database, theirs, speak)
        assert len(said_meanwhile) > 5
    assert await contents(target) == before
    await copied(source, later)
    assert await contents(later) == await contents(source) != before


async def test_every_table_is_copied_or_rebuilt(
    database: Path, postgres_url: Callable[[str], str]
) -> None:
    listed = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    async with databases(database):
        names = {str(name) for (name,) in connect(database).execute(listed)}
    names = {name for name in names if "_words_" not in name}
    async with databases(locate(postgres_url(FIRST))) as (server,):
        names |= set(await server.read_all(server_tables))
    assert names == set(tables.TABLES) | NOT_COPIED


def server_tables(conn: Connection) -> list[str]:
    found = "SELECT relname FROM pg_class WHERE relnamespace = 'hotmem'::REGNAMESPACE"
    return [str(name) for (name,) in conn.execute(f"{found} AND relkind = 'r'").fetchall()]


async def test_a_target_that_holds_a_memory_is_left_as_it_is(
    place: Make, opened: Callable[[Location], Memory]
) -> None:
    source, target = place("sqlite"), place("sqlite")
    for location in (source, target):
        async with databases(location) as (database,):
            await database.write_all(queries.users.ensure, str(location))
    with pytest.raises(InvalidInput, match="holds a memory already"):
        await copied(source, target)
    async with databases(target) as (database,):
        assert await database.read_all(queries.users.names, 9) == [str(target)]


async def test_a_target_that_is_written_to_is_found_to_be_unequal(place: Make) -> None:
    source, target = place("sqlite"), place("postgres")
    async with databases(source, target) as (ours, theirs):
        await ours.write_all(queries.users.ensure, "ana")

        def interfere(stage: str, done: int, whole: int) -> None:
            if (stage, done) == ("copying", whole):
                asyncio.run_coroutine_threadsafe(
                    theirs.write_all(queries.users.ensure, "bot"), loop
                ).result()

        loop = asyncio.get_running_loop()
        with pytest.raises(StoreError, match="Stop other programs that use the target"):
            await copying.copy_database(ours, theirs, interfere)
        await copying.copy_database(ours, theirs)
        assert await theirs.read_all(queries.users.names, 9) == ["ana"]


async def test_row_numbers_of_deleted_rows_are_not_given_again(place: Make) -> None:
    source, there, back = place("sqlite"), place("postgres"), place("sqlite")
    async with databases(source, there, back) as (ours, theirs, again):
        for name in ("ana", "ben", "eve"):
            await ours.write_all(queries.users.ensure, name)
        await ours.write_all(without_eve)
        await copying.copy_database(ours, theirs)
        await copying.copy_database(theirs, again)
        for database in (ours, theirs, again):
            assert await database.write_all(queries.users.ensure, "kim") == 4


def without_eve(conn: Connection) -> None:
    conn.execute("DELETE FROM users WHERE public_id = 'eve'")


async def test_a_copy_has_the_language_of_its_source(place: Make, open_memory: OpenMemory) -> None:
    source, target = place("sqlite"), place(f"postgres-{FIRST}")
    options = Options(language="de")
    async with open_memory(source, options) as memory:
        await memory.remember(said("Die alten Häuser am Fluss."))
    ours = open_storage(source).database
    english = open_storage(target, None, "en").database
    with pytest.raises(InvalidInput, match="'de'"):
        await copying.copy_database(ours, english)
    await english.close()
    theirs = open_storage(target, None, ours.language).database
    await copying.copy_database(ours, theirs)
    await ours.close()
    await theirs.close()
    copied = open_storage(target)
    assert copied.database.language == "de"
    user = await user_of(copied.database)
    search = LexicalSearch(EvidenceKind.PASSAGE, ["Haus"], 5)
    assert [len(found) for found in await copied.engine.search(user, search)] == [1]
    await copied.database.close()
