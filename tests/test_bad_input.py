"""Every input has a defined outcome: a result, or an error of HotMem that names the fix.

Stored data is never lost.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from shutil import copy
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem import (
    InvalidInput,
    Memory,
    ModelMissing,
    Options,
    StoreFull,
    StoreLocked,
    StoreTooNew,
    StoreUnusable,
    Turn,
)
from hotmem.models import Language
from hotmem.options import ModelOptions
from hotmem.storage import open_storage
from hotmem.storage.sqlite import connection
from hotmem.storage.sqlite.connection import connect
from hotmem.storage.sqlite.database import SqliteDatabase
from hotmem.text.validation import MAX_ID_CHARACTERS, MAX_TEXT_CHARACTERS
from hotmem.types import Layer, LayerOutcome, Role
from tests.conversation import START, OpenMemory, file_of, remember, said, store_turns


def texts(path: Path) -> list[str]:
    """Return the text of every turn in a file."""
    with closing(connect(path, read_only=True)) as conn:
        return conn.column("SELECT text FROM turns ORDER BY id")


@pytest.fixture
def stored(database: Path) -> Path:
    """A file with one turn, closed."""

    async def store() -> None:
        opened = open_storage(database)
        await store_turns(opened.database, said("My dog is called Potola."))
        await opened.database.close()

    asyncio.run(store())
    return database


@pytest.mark.parametrize("text", ["", " ", "\n\t \r\n", "\x00\x07\x1b", "\ufeff", "\u2028"])
def test_a_turn_without_words_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="Leave out turns"):
        said(text)


def test_a_megabyte_is_refused_and_the_longest_text_is_found(
    database: Path, open_memory: OpenMemory
) -> None:
    with pytest.raises(InvalidInput, match="Split it"):
        said("a" * 1_000_000)
    longest = f"{'x' * (MAX_TEXT_CHARACTERS - 30)} then the zebra slept."

    async def run() -> None:
        async with open_memory(database) as memory:
            await memory.remember(said(longest))
            asked = await memory.recall("Where did the zebra sleep?", user_id="ana")
            assert [
                report.hits for report in asked.trace.layers if report.layer is Layer.VERBATIM
            ] == [1]
            with pytest.raises(InvalidInput, match="Pass what was said last"):
                await memory.recall("a" * 1_000_000, user_id="ana")
            started = time.monotonic()
            block = await memory.recall("a" * MAX_TEXT_CHARACTERS, user_id="ana")
            assert block.tokens <= 1000 and time.monotonic() - started < 10

    asyncio.run(run())
    assert texts(database) == [longest]


def test_control_characters_are_removed() -> None:
    assert (
        said("\x00Good\x07 morning,\x1b\tAna\u2028!\nü 🐕 \u200d ٣").text
        == "Good morning,\tAna!\nü 🐕 \u200d ٣"
    )


def test_surrogates_become_replacement_characters() -> None:
    assert said("a \ud83d dog").text == "a \ufffd dog"


async def test_surrogates_in_turns_and_queries_are_accepted(memory: Memory) -> None:
    await remember(memory, "The \udc80 dog \ud83d is called Potola \udfff.")
    assert (
        "Potola"
        in (
            await memory.recall(
                "\ud800 What is the dog called \udcff?", user_id="ana", visible=["\ud800"]
            )
        ).text
    )
    assert await memory.forget(user_id="ana", entity="Potola \udfff") is not None


@pytest.mark.parametrize(
    "query",
    [
        '"', '""', '"dog', "dog*", "dog OR", "NOT dog", "dog NEAR(cat, 2)", "text : dog",
        "owner : u1", "-dog", "^dog", "(dog", "dog)", "dog + cat", "'; DROP TABLE turns; --",
        "{text owner} : dog", "dog AND AND cat", "%", "_", "\\", "dog\x00cat", "a\"b\"c dog",
        "“dog” called “",
    ],
)  # fmt: skip
async def test_operators_and_quotes_in_a_query_are_literal(
    query: str, database: Path, open_memory: OpenMemory
) -> None:
    async with open_memory(database) as memory:
        await remember(memory, "My dog is called Potola.")
        reports = (
            await memory.recall(f"What is my {query} dog called?", user_id="ana")
        ).trace.layers
        assert {report.layer: report.outcome for report in reports} == dict.fromkeys(
            Layer, LayerOutcome.ANSWERED
        )
        assert all(report.hits for report in reports)
        alone = (await memory.recall(query, user_id="ana")).trace.layers
        assert {report.outcome for report in alone} <= {
            LayerOutcome.ANSWERED,
            LayerOutcome.NOT_ASKED,
        }
    assert texts(database) == ["My dog is called Potola."]


def test_any_text_is_accepted_as_turn_and_query(database: Path, open_memory: OpenMemory) -> None:
    with asyncio.Runner() as runner:
        memory = open_memory(database)
        runner.run(memory.start())

        @settings(max_examples=40)
        @given(st.text(st.characters(codec=None), max_size=80))
        def remembered_and_asked(text: str) -> None:
            try:
                turn = said(text)
            except InvalidInput:
                assert not text.strip() or not any(
                    character.isprintable() for character in text.strip()
                )
            else:
                assert runner.run(memory.remember(turn))
            assert runner.run(memory.recall(text, user_id="ana")).tokens <= 1000
            runner.run(memory.settle())

        try:
            remembered_and_asked()
        finally:
            runner.run(memory.close())


async def test_a_time_without_a_zone_is_refused(memory: Memory) -> None:
    naive = datetime(2026, 3, 2)
    with pytest.raises(InvalidInput, match="no time zone"):
        Turn("ana", "monday", "user", "Hello.", naive)
    with pytest.raises(InvalidInput, match="no time zone"):
        await memory.recall("Hello?", user_id="ana", at=naive)
    with pytest.raises(InvalidInput, match="no time zone"):
        await memory.forget(user_id="nobody", after=naive)
    with pytest.raises(InvalidInput, match="not a datetime"):
        Turn("ana", "monday", "user", "Hello.", "2026-03-02")  # type: ignore[arg-type]
    first = datetime.min.replace(tzinfo=timezone(timedelta(hours=1)))
    with pytest.raises(InvalidInput, match="years"):
        Turn("ana", "monday", "user", "Hello.", first)


def test_a_time_in_another_zone_is_the_same_instant() -> None:
    kathmandu = timezone(timedelta(hours=5, minutes=45))
    turn = Turn("ana", "monday", "user", "Hello.", datetime(2026, 3, 2, 5, 45, tzinfo=kathmandu))
    assert turn.spoken_at == datetime(2026, 3, 2, tzinfo=UTC) and turn.spoken_at.tzinfo is kathmandu


async def test_times_out_of_order_and_extreme_times_are_stored(memory: Memory) -> None:
    times = [
        START,
        START - timedelta(days=9999),
        datetime.min.replace(tzinfo=UTC),
        datetime.max.replace(tzinfo=UTC),
    ]
    for number, moment in enumerate(times):
        text = f"Tell me about number {number} and the lighthouse last week."
        turn = Turn("ana", "monday", "user", text, moment, "Ana", f"t{number}")
        await memory.remember(turn)
    await memory.end_session(user_id="ana", session_id="monday")
    await memory.settle()
    for moment in times:
        assert (
            "lighthouse"
            in (
                await memory.recall(
                    "What about the lighthouse last week?", user_id="ana", at=moment
                )
            ).text
        )
    assert (await memory.forget(user_id="ana", before=START)).turns == 2


@pytest.mark.parametrize("role", ["system", "USER", "", None, 3])
def test_an_unknown_role_is_refused(role: str) -> None:
    with pytest.raises(InvalidInput, match="Use one of: user, assistant"):
        said("Hello.", role=role)
    assert said("Hello.", role="assistant").role is Role.ASSISTANT


@pytest.mark.parametrize("visible", ["one text", [1], [None, "text"]])
async def test_visible_is_a_list_of_strings(memory: Memory, visible: list[str]) -> None:
    with pytest.raises(InvalidInput, match="visible is not a list of strings"):
        await memory.recall("Hello?", user_id="ana", visible=visible)


@pytest.mark.parametrize("tokens", [0, -1, -1000, True, False, 10.0, "1000"])
async def test_an_invalid_budget_is_refused(tokens: int, memory: Memory) -> None:
    with pytest.raises(InvalidInput, match=r"max_tokens is .*whole number of at least 1"):
        await memory.recall("Hello?", user_id="ana", max_tokens=tokens)


async def test_the_smallest_budget_gives_an_empty_block(memory: Memory) -> None:
    await memory.remember(said("My dog is called Potola."))
    block = await memory.recall("What's my dog called?", user_id="ana", max_tokens=1)
    assert (block.text, block.tokens, block.items) == ("", 0, ())


BAD_IDS = ["x" * 10_000, "x" * (MAX_ID_CHARACTERS + 1), "", "a\x00b", "\ud800", 7, None]


@pytest.mark.parametrize("bad", BAD_IDS)
async def test_invalid_ids_are_refused_everywhere(bad: str, memory: Memory) -> None:
    await memory.remember(said("My dog is called Potola."))
    calls: list[Callable[[], object]] = [
        lambda: memory.recall("Hello?", user_id=bad),
        lambda: memory.end_session(user_id=bad, session_id="monday"),
        lambda: memory.end_session(user_id="ana", session_id=bad),
        lambda: memory.learning.weights(bad),
        lambda: memory.memories(bad),
        lambda: memory.lookup.summary(user_id=bad, session_id="monday"),
        lambda: memory.lookup.summary(user_id="ana", session_id=bad),
        lambda: memory.forget(user_id=bad, everything=True),
        lambda: anext(aiter(memory.export(bad))),
    ]
    if bad is not None:
        calls += [
            lambda: memory.recall("Hello?", user_id="ana", session_id=bad),
            lambda: memory.forget(user_id="ana", session_id=bad),
            lambda: memory.forget(user_id="ana", memory_id=bad),
        ]
    for call in calls:
        with pytest.raises(InvalidInput, match=r"[Uu]se |Pass "):
            await call()  # type: ignore[misc]
    for user, session in ((bad, "monday"), ("ana", bad)):
        with pytest.raises(InvalidInput):
            said("Hello.", user=user, session=session)
    assert texts(file_of(memory)) == ["My dog is called Potola."]


async def test_the_longest_id_can_be_used(memory: Memory) -> None:
    longest = "ü" * MAX_ID_CHARACTERS
    await memory.remember(
        said("My dog is called Potola.", user=longest, session=longest, name=longest)
    )
    block = await memory.recall("What's my dog called?", user_id=longest, session_id=longest)
    assert block.items[0].turn_ids == (longest,)


async def test_an_empty_memory_and_an_unknown_user_return_nothing(memory: Memory) -> None:
    for _ in range(2):
        block = await memory.recall("What's my dog called?", user_id="nobody")
        assert not block.items and "nothing is known" in block.text.lower() and "dog" in block.text
        await memory.remember(said("My dog is called Potola."))


async def test_forgetting_nothing_or_two_things_at_once_is_refused(memory: Memory) -> None:
    for what in (
        {},
        {"entity": "Potola", "everything": True},
        {"session_id": "monday", "after": START},
        {"turn_ids": [], "entity": "x"},
    ):
        with pytest.raises(InvalidInput, match="exactly one"):
            await memory.forget(user_id="ana", **what)
    for no_ids in ("t1", [""], [3]):
        with pytest.raises(InvalidInput, match="turn_ids"):
            await memory.forget(user_id="ana", turn_ids=no_ids)  # type: ignore[arg-type]
    for blank in ("", " ", "\x00"):
        with pytest.raises(InvalidInput, match="Name what to forget"):
            await memory.forget(user_id="ana", entity=blank)


@pytest.mark.parametrize(
    ("call", "fix"),
    [
        (lambda memory: memory.remember({"text": "Hi."}), r"turn is dict, not Turn\. Pass Turn"),
        (lambda memory: memory.remember("Hi."), "turn is str, not Turn"),
        (lambda memory: memory.recall(b"Hi.", user_id="ana"), "query is bytes"),
        (lambda memory: memory.feedback("a block", "Hi."), "block is str, not ContextBlock"),
        (lambda memory: memory.import_records(5), "source is int, .*Pass the path"),
        (lambda memory: memory.forget(user_id="ana", entity=5), "entity is int, not str"),
        (
            lambda memory: memory.forget(user_id="ana", entity="Potola", grace=24),
            r"grace is int, not timedelta\. Pass timedelta\(hours=24\)",
        ),
        (
            lambda memory: memory.learning.quality("ana", since="2026-03-01"),
            "since is str, not date",
        ),
        (
            lambda memory: memory.store_memory("Hi.", user_id="ana", context="home"),
            "fields of StoreContext are str.*category, kind",
        ),
        (
            lambda memory: memory.store_memory("Hi.", user_id="ana", context={"tags": "home"}),
            r"tags is 'home'\. Pass a list\.",
        ),
    ],
)
async def test_arguments_of_another_type_are_refused(
    call: Callable[[Memory], Awaitable[object]], fix: str, memory: Memory
) -> None:
    await memory.remember(said("My dog is called Potola."))
    block = await memory.recall("What's my dog called?", user_id="ana")
    with pytest.raises(InvalidInput, match="reply is int, not str"):
        await memory.feedback(block, 5)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=fix):
        await call(memory)
    assert texts(file_of(memory)) == ["My dog is called Potola."]


async def test_an_import_takes_the_name_of_a_file(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "ana.jsonl"
    await memory.remember(said("My dog is called Potola."))
    file.write_text("".join([f"{line}\n" async for line in memory.export("ana")]))
    assert (await memory.import_records(str(file))).known


async def test_a_locked_file(
    stored: Path, open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "LOCK_WAIT_S", 0.1)
    async with open_memory(stored) as memory:
        await memory.settle()
        with closing(connect(stored)) as other:
            other.execute("BEGIN EXCLUSIVE")
            with pytest.raises(StoreLocked, match=r"locked for over .* s by .* try again"):
                await memory.remember(said("This comes too early."))
            assert "Potola" in (await memory.recall("What's my dog called?", user_id="ana")).text, (
                "readers go on"
            )
            other.execute("ROLLBACK")
        assert await memory.remember(said("Now it can be written."))
    assert texts(stored) == ["My dog is called Potola.", "Now it can be written."]


async def test_a_file_locked_exclusively_by_another_program(
    stored: Path, open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "LOCK_WAIT_S", 0.1)
    with closing(connect(stored)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreLocked, match=r"locked for over .* s by .* try again"):
            await open_memory(stored).start()
        other.execute("ROLLBACK")
    assert texts(stored) == ["My dog is called Potola."]


OPENED_AS_NOBODY = """
import json, os, sys
from pathlib import Path
from hotmem.errors import HotMemError
from hotmem.storage.sqlite.database import SqliteDatabase

if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
for path in sys.argv[1:]:
    try:
        opened = SqliteDatabase.open(Path(path))
        print(json.dumps(["read only" if opened.read_only else "open", ""]))
    except HotMemError as error:
        print(json.dumps([type(error).__name__, str(error)]))
"""
"""Opens files as the user "nobody": a process of root must become someone else to be refused a
file."""


def test_files_and_folders_without_permissions(stored: Path) -> None:
    rights = {
        "file": (0o444, 0o777),
        "folder": (0o666, 0o555),
        "new": (None, 0o555),
        "unreadable": (0o000, 0o777),
        "closed folder": (0o666, 0o000),
    }
    with TemporaryDirectory() as outside:
        folders = {name: Path(outside, name) for name in rights}
        for name, (of_file, of_folder) in rights.items():
            folders[name].mkdir()
            if of_file is not None:
                copy(stored, folders[name] / stored.name)
                (folders[name] / stored.name).chmod(of_file)
            folders[name].chmod(of_folder)
        Path(outside).chmod(0o755)
        paths = [folder / stored.name for folder in folders.values()]
        run = subprocess.run(
            [sys.executable, "-c", OPENED_AS_NOBODY, *paths],
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        for folder in folders.values():
            folder.chmod(0o700)
        assert not run.stderr
        outcomes = dict(zip(rights, map(json.loads, run.stdout.splitlines()), strict=True))
        assert outcomes["file"][0] == outcomes["folder"][0] == "read only"
        for name, fact in (
            ("new", "cannot be written"),
            ("unreadable", "may not be read"),
            ("closed folder", "closed to this user"),
        ):
            kind, message = outcomes[name]
            assert kind == StoreUnusable.__name__ and fact in message and "Change" in message
        for name in ("file", "folder", "unreadable", "closed folder"):
            (folders[name] / stored.name).chmod(0o600)
            assert texts(folders[name] / stored.name) == ["My dog is called Potola."]
        assert not paths[2].exists()


def test_a_missing_folder_and_a_folder_in_place_of_a_file(tmp_path: Path) -> None:
    for path, fact in (
        (tmp_path / "missing" / "memory.db", "missing is not there. Make it"),
        (tmp_path, "is a folder. Pass the path of a file in it"),
        (Path("/dev/null"), "no regular file"),
        (Path(":memory:"), "pass a path"),
        (Path("postgresql://ana:secret@host/db"), r"A URL \(postgresql://…\) is no memory file"),
    ):
        with pytest.raises(StoreUnusable, match=fact) as raised:
            open_storage(path)
        assert "secret" not in str(raised.value)


@pytest.mark.parametrize("kept", [0.3, 0.7, 0.95])
def test_a_truncated_file(kept: float, stored: Path) -> None:
    whole = stored.read_bytes()
    cut = whole[: int(len(whole) * kept)]
    stored.write_bytes(cut)
    with pytest.raises(StoreUnusable, match="Restore it from a backup"):
        open_storage(stored)
    assert stored.read_bytes() == cut, "the file is not modified"


@pytest.fixture
def damaged(stored: Path) -> Path:
    """A file of which only the first page is intact."""
    content = stored.read_bytes()
    stored.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    return stored


async def test_a_damaged_file_is_refused_on_reading(damaged: Path, open_memory: OpenMemory) -> None:
    with pytest.raises(StoreUnusable, match="Restore it from a backup"):
        async with open_memory(damaged) as memory:
            await memory.recall("What's my dog called?", user_id="ana")


def test_a_file_that_is_not_a_database(database: Path) -> None:
    database.write_text("a shopping list\n" * 200)
    with pytest.raises(StoreUnusable, match="open another file"):
        open_storage(database)
    assert database.read_text() == "a shopping list\n" * 200


@pytest.mark.parametrize("pragma", ["", "PRAGMA user_version = 1", "PRAGMA application_id = 7"])
def test_a_database_of_another_program_is_not_modified(pragma: str, database: Path) -> None:
    with closing(connect(database)) as conn:
        conn.execute("CREATE TABLE recipes (name TEXT)")
        conn.execute("INSERT INTO recipes VALUES ('soup')")
        conn.execute(pragma)
    before = database.read_bytes()
    with pytest.raises(StoreUnusable, match=r"another program\'s database\. Open another file"):
        open_storage(database)
    assert database.read_bytes() == before
    assert [path.name for path in database.parent.iterdir()] == [database.name]


def test_a_file_of_a_newer_version_is_not_modified(stored: Path) -> None:
    with closing(connect(stored)) as conn:
        conn.execute("PRAGMA user_version = 99")
    before = stored.read_bytes()
    with pytest.raises(StoreTooNew, match="pip install -U pipecat-hotmem"):
        open_storage(stored)
    assert stored.read_bytes() == before
    assert texts(stored) == ["My dog is called Potola."]


async def test_a_full_disk_rolls_back_and_keeps_stored_data(
    database: Path, open_memory: OpenMemory
) -> None:
    async with open_memory(database) as memory:
        await remember(memory, "My dog is called Potola.")
        storage = memory.runtime.storage
        assert isinstance(storage.database, SqliteDatabase)
        most = await storage.database.write_all(lambda conn: conn.scalar("PRAGMA page_count"))
        assert storage.database._writer is not None
        storage.database._writer.execute(f"PRAGMA max_page_count = {most + 8}")
        added = 1
        with pytest.raises(StoreFull, match="Free some space"):
            for number in range(1000):
                added += await memory.remember(said(f"Number {number}: {'long words ' * 200}"))
        await memory.settle()
        assert "Potola" in (await memory.recall("What's my dog called?", user_id="ana")).text
        storage.database._writer.execute("PRAGMA max_page_count = 1000000")
        assert await memory.remember(said("There is space again."))
        await memory.settle()
    kept = texts(database)
    assert (
        len(kept) == added + 1
        and kept[0] == "My dog is called Potola."
        and kept[-1] == "There is space again."
    )
    with closing(connect(database, read_only=True)) as conn:
        assert conn.scalar("PRAGMA integrity_check") == "ok"
        assert conn.scalar("SELECT count(*) FROM pending_turns") == 0


@pytest.mark.part("torch")
def test_a_missing_model_is_reported_before_the_file_is_created(
    database: Path, language: Language
) -> None:
    options = Options(models=ModelOptions(encoder="no-such/model-anywhere"))
    with pytest.raises(ModelMissing, match="Check its name or folder"):
        asyncio.run(Memory.open(database, options, language=language).start())
    assert not database.exists()


def test_a_speaker_of_spaces_is_no_speaker() -> None:
    assert Turn("ana", "s", "user", "Hello.", START, "  ").speaker is None
    assert Turn("ana", "s", "user", "Hello.", START, " Ana ").speaker == "Ana"
