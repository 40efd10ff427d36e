"""Retention: rules by age, and a clock that must be trusted."""

import asyncio
import json
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import Result

from hotmem import InvalidInput, Options
from hotmem.cli import console
from hotmem.operations.retention import Retention, clock_problem
from hotmem.options import RetentionRule, load_retention_rules
from hotmem.settings import Settings
from hotmem.storage import open_storage, queries
from hotmem.storage.queries.retention import Clock
from hotmem.storage.sqlite.connection import connect
from hotmem.types import Act, Action, Actor, Category, Role, Turn
from tests.commands import run as run_command
from tests.conversation import OpenMemory, store_turns
from tests.tables import tables

CASES = tables(__file__)

NOW = datetime.now(UTC)

DAY = timedelta(days=1)


def turn(user: str, days: float, text: str = "I like walnuts.", name: str | None = None) -> Turn:
    said = Turn(user, f"{user} {int(days)}", Role.USER, text, NOW - days * DAY, user.title())
    return (
        said
        if name is None
        else Turn(user, said.session_id, Role.USER, text, said.spoken_at, said.speaker, name)
    )


async def run_down(retention: Retention, now: datetime) -> int:
    count = 0
    while await retention.run_batch(now):
        count += 1
    return count


def texts(path: Path, table: str = "turns") -> set[str]:
    with closing(connect(path, read_only=True)) as conn:
        return set(conn.column(f"SELECT text FROM {table}"))


async def test_rules_by_age_and_by_category(database: Path, open_memory: OpenMemory) -> None:
    async with open_memory(database) as memory:
        for one in (
            turn("ana", 400, "My dog is called Potola."),
            turn("ana", 100, "I live in Porto."),
            turn("ana", 100.1, "I live in Porto. I am allergic to walnuts."),
            turn("ana", 10, "I am allergic to peanuts."),
            turn("ben", 100, "I am allergic to wheat. My sister is called Marta."),
        ):
            await memory.remember(one)
        await memory.settle()
        await memory.store_memory(
            "Ana takes Oleander for her heart.", user_id="ana", context={"category": "projects"}
        )
        filed = {known.text for known in await memory.memories("ana", past=True)}
        with closing(connect(database)) as conn:
            conn.execute(
                "UPDATE memories"
                " SET category = iif(text LIKE '%allergic%', 'projects', 'contexts')"
                " WHERE stored_at IS NULL"
            )
        rules = (RetentionRule(365), RetentionRule(90, Category.PROJECTS))
        retention = Retention(memory.runtime.storage, rules, 365)
        planned = await retention.preview(datetime.now(UTC))
        assert len(await memory.memories("ana", past=True)) == len(filed)
        done = await retention.run_all(datetime.now(UTC))
        assert [(one.user_id, one.rule) for one in done] == [
            ("ana", "all older than 365 days"),
            ("ana", "projects older than 90 days"),
            ("ben", "projects older than 90 days"),
        ]
        assert done == planned
        ana = {known.text for known in await memory.memories("ana", past=True)}
        assert ana == {
            "Ana lives in Porto.",
            "Ana is allergic to peanuts.",
            "Ana takes Oleander for her heart.",
        }
        assert {known.text for known in await memory.memories("ben", past=True)} == {
            "Ben's sister is called Marta."
        }
        entries = await memory.runtime.database.read_all(
            queries.retention.entries, None, None, Action.FORGET, 10
        )
        assert {(one.who, one.user_id, one.act.what) for one in entries} == {
            (Actor.RETENTION, one.user_id, one.rule) for one in done
        }
    held = await asyncio.to_thread(database.read_bytes)
    assert not [word for word in (b"Potola", b"wheat") if word in held]


@settings(max_examples=25)
@given(
    said=st.lists(
        st.tuples(st.sampled_from(["ana", "ben", "eve"]), st.integers(0, 60)), max_size=40
    ),
    rules=st.lists(
        st.builds(
            RetentionRule, st.integers(1, 50), st.none(), st.sampled_from([None, "ana", "ben"])
        ),
        max_size=3,
    ),
)
def test_a_row_remains_only_if_every_rule_keeps_it(
    said: list[tuple[str, int]],
    rules: list[RetentionRule],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("kept") / "memory.db"

    async def run() -> None:
        storage = open_storage(path)
        for number, (user, days) in enumerate(said):
            await store_turns(
                storage.database, turn(user, days + 0.5, f"number {number}", str(number)), now=NOW
            )
        await run_down(Retention(storage, rules, 365), NOW)
        await storage.database.close()

    asyncio.run(run())
    kept = {
        f"number {number}"
        for number, (user, days) in enumerate(said)
        if all(days + 0.5 <= rule.days for rule in rules if rule.user_id in (None, user))
    }
    assert texts(path) == kept


@pytest.mark.parametrize("year", [1970, 2070])
async def test_an_untrusted_clock_removes_nothing_and_warns(
    database: Path, year: int, capsys: pytest.CaptureFixture[str]
) -> None:
    storage = open_storage(database)
    for days in (1, 500):
        await store_turns(storage.database, turn("ana", days, f"{days} days ago"), now=NOW)
    await storage.database.write_all(queries.retention.note_clock, NOW)
    await storage.database.write_all(
        queries.retention.record, None, Actor.PROGRAM, Act(Action.BACKUP, "backup"), NOW - 500 * DAY
    )
    wrong = NOW.replace(year=year)
    retention = Retention(storage, (RetentionRule(365),), 365)
    assert await run_down(retention, wrong) == 0
    assert "retention removes nothing: the clock shows" in capsys.readouterr().err
    await store_turns(storage.database, turn("ana", 2, "written meanwhile"), now=wrong)
    assert await run_down(Retention(storage, (RetentionRule(365),), 365), wrong) == 0
    assert texts(database) == {"1 days ago", "500 days ago", "written meanwhile"}
    assert (
        len(await storage.database.read_all(queries.retention.entries, None, None, None, 10)) == 1
    )
    await storage.database.close()


async def test_a_trusted_clock_removes_and_is_recorded(database: Path) -> None:
    storage = open_storage(database)
    for days in (1, 500):
        await store_turns(storage.database, turn("ana", days, f"{days} days ago"), now=NOW)
    await storage.database.write_all(
        queries.retention.record, None, Actor.PROGRAM, Act(Action.BACKUP, "backup"), NOW - 500 * DAY
    )
    retention = Retention(storage, (RetentionRule(365),), 365)
    await run_down(retention, NOW)
    assert texts(database) == {"1 days ago"}
    assert (await storage.database.read_all(queries.retention.clock)).seen == NOW
    assert [
        one.who
        for one in await storage.database.read_all(queries.retention.entries, None, None, None, 10)
    ] == [Actor.RETENTION]
    await store_turns(storage.database, turn("ana", 400, "old, and told late"), now=NOW)
    assert await run_down(retention, NOW + timedelta(hours=23)) == 0
    await run_down(retention, NOW + timedelta(hours=25))
    assert texts(database) == {"1 days ago"}
    await storage.database.close()


@pytest.mark.parametrize(
    ("now", "seen", "newest", "right"),
    [
        (datetime(1970, 1, 1, tzinfo=UTC), None, None, False),
        (NOW, None, None, True),
        (NOW, NOW - DAY, NOW + DAY / 2, True),
        (NOW, NOW - DAY, NOW + 2 * DAY, False),
        (NOW, NOW - 300 * DAY, NOW - 300 * DAY, True),
        (NOW, NOW - 400 * DAY, NOW - 400 * DAY, False),
        (NOW, NOW - 400 * DAY, NOW, False),
    ],
)
def test_which_clocks_are_trusted(
    now: datetime, seen: datetime | None, newest: datetime | None, right: bool
) -> None:
    assert (clock_problem(now, Clock(seen, newest)) is None) is right


async def test_the_worker_applies_retention(database: Path, open_memory: OpenMemory) -> None:
    options = Options(retention=(RetentionRule(30, user_id="ana"),))
    async with open_memory(database, options) as memory:
        for one in (
            turn("ana", 40, "My dog is called Potola."),
            turn("ana", 2, "I live in Porto."),
            turn("ben", 40, "I live in Braga."),
        ):
            await memory.remember(one)
    async with open_memory(database, options) as memory:
        await memory.settle()
    assert texts(database) == {"I live in Porto.", "I live in Braga."}
    assert texts(database, "memories") == {"Ana lives in Porto.", "Ben lives in Braga."}


@pytest.fixture
def run(database: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    monkeypatch.setattr(console, "screen", console.make_console(width=200))
    monkeypatch.chdir(tmp_path)
    return lambda *words: run_command("retain", "-d", str(database), *words)


def test_the_command_previews_and_removes(
    database: Path, run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def keep() -> None:
        storage = open_storage(database)
        for days in (1, 100, 500):
            await store_turns(storage.database, turn("ana", days, f"{days} days ago"), now=NOW)
        await storage.database.close()

    asyncio.run(keep())
    refused = run()
    assert isinstance(refused.exception, InvalidInput) and "HOTMEM_RETENTION_DAYS" in str(
        refused.exception
    )
    monkeypatch.setenv("HOTMEM_RETENTION_DAYS", "365")
    (tmp_path / "rules.json").write_text('[{"days": 50, "user_id": "ana"}]')
    monkeypatch.setenv("HOTMEM_RETENTION_FILE", str(tmp_path / "rules.json"))
    told = [(one["rule"], one["turns"]) for one in json.loads(run("--dry-run", "--json").output)]
    assert told == [("all older than 365 days", 1), ("all older than 50 days", 2)]
    assert len(texts(database)) == 3
    done = run()
    assert done.exit_code == 0 and "all older than 50 days" in done.output, done.output
    assert texts(database) == {"1 days ago"}
    assert "no data is older" in run("--dry-run").output


@pytest.mark.parametrize("content", CASES["an_invalid_file_of_rules_is_reported"])
def test_an_invalid_file_of_rules_is_reported(tmp_path: Path, content: str) -> None:
    file = tmp_path / "rules.json"
    file.write_text(content)
    with pytest.raises(InvalidInput, match=r"Write a list such as|days is 0"):
        load_retention_rules(file)
    with pytest.raises(InvalidInput, match="cannot be read"):
        load_retention_rules(tmp_path / "none.json")


def test_the_settings_make_the_rules(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "rules.json"
    file.write_text('[{"days": 90, "category": "projects"}, {"days": 30, "user_id": "ana"}]')
    monkeypatch.setenv("HOTMEM_RETENTION_DAYS", "365")
    monkeypatch.setenv("HOTMEM_RETENTION_FILE", str(file))
    assert Settings().options().retention == (
        RetentionRule(365),
        RetentionRule(90, Category.PROJECTS),
        RetentionRule(30, None, "ana"),
    )
