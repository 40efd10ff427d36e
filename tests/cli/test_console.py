"""Terminal output: text is printed literally, and abbreviated IDs are accepted."""

import asyncio
import json
import re
import sys
from pathlib import Path
from shutil import copy

import pytest
from typer.testing import Result

from hotmem import InvalidInput, __version__
from hotmem.cli import app, console
from hotmem.storage.sqlite.connection import connect
from tests.commands import Run, run
from tests.conversation import OpenMemory, said
from tests.tables import tables

CASES = tables(__file__)

MARKUP = "[/docs/readme]"
"""As rich markup this closes a style that was never opened, which is an error."""

STORED = f"The page {MARKUP} needs pip install x[inspect] :smile:."
SPOKEN = f"My dog is called Potola, see {MARKUP} and x[bold]y."


@pytest.fixture(scope="module")
def shared_file(tmp_path_factory: pytest.TempPathFactory, open_memory: OpenMemory) -> Path:
    database = tmp_path_factory.mktemp("shared") / "memory.db"

    async def run() -> None:
        async with open_memory(database) as memory:
            await memory.remember(said(SPOKEN, session="[/s]"))
            await memory.remember(said(SPOKEN, session="later [/s]", minutes=90))
            for tag in ("[/tag]", "[/other]"):
                await memory.store_memory(
                    STORED.replace("page", f"page {tag}"),
                    user_id="ana",
                    context={"tags": [tag], "source": "[/x]"},
                )
            for session in ("[/s]", "later [/s]"):
                await memory.end_session(user_id="ana", session_id=session)
            await memory.settle()
            block = await memory.recall(
                "What is my dog called?", user_id="ana", session_id="asking [/s]"
            )
            await memory.feedback(block, "Your dog is called Potola [/really].")

    asyncio.run(run())
    return database


@pytest.fixture
def database_file(shared_file: Path, database: Path) -> Path:
    """A file with text that looks like markup."""
    return Path(copy(shared_file, database))


@pytest.fixture
def ana(database_file: Path) -> Run:
    """Runs a command on the file, for Ana."""
    return lambda *words: run(*words, "-u", "ana", "-d", database_file)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(console, "screen", console.make_console(width=80))
    monkeypatch.chdir(tmp_path)


def refused(outcome: Result) -> str:
    """Return the error of a command."""
    assert isinstance(outcome.exception, InvalidInput), outcome.output
    return str(outcome.exception)


@pytest.mark.parametrize(("words", "shown"), CASES["every_command_shows_text_that_looks_like"])
def test_every_command_shows_text_that_looks_like_markup(
    words: list[str], shown: str, ana: Run
) -> None:
    outcome = ana(*words)
    assert outcome.exception is None or isinstance(outcome.exception, InvalidInput), repr(
        outcome.exception
    )
    assert shown in " ".join(outcome.output.split()), outcome.output


def test_import_and_export_print_it_too(ana: Run, database_file: Path, tmp_path: Path) -> None:
    file = tmp_path / "[out].jsonl"
    assert ana("export", file).exit_code == 0
    assert json.loads(file.read_text("utf-8").splitlines()[0])
    foreign = tmp_path / "mem0.json"
    record = {
        "id": "1",
        "memory": STORED,
        "user_id": "ana",
        "created_at": "2026-03-02T09:00:00Z",
        "metadata": {"category": "[/c]"},
    }
    foreign.write_text(json.dumps({"results": [record]}), "utf-8")
    outcome = run("import", foreign, "-u", "ana", "-d", tmp_path / "[copy].db")
    assert outcome.exit_code == 0 and "[/c]" in outcome.output, outcome.output
    assert run("backup", tmp_path / "[b].db", "-d", database_file).output.endswith("[b].db\n")


def test_errors_are_printed_literally_in_one_line(
    database_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for package, words, hint in (
        ("uvicorn", ("inspect", "-u", "ana"), 'pip install "pipecat-hotmem[inspect]"'),
        ("mcp.server.lowlevel", ("serve-mcp", "-u", "ana"), 'pip install "pipecat-hotmem[mcp]"'),
        (
            "networkx",
            ("network", "-u", "ana", "-d", str(database_file), "--png", "x.png"),
            'pip install "pipecat-hotmem[pictures]"',
        ),
    ):
        for name in [
            name
            for name in sys.modules
            if name.startswith(
                (
                    "hotmem.inspector",
                    "hotmem.core.graph_layout",
                    "hotmem.core.local_server",
                    "hotmem.tools.mcp",
                    "hotmem.cli.plots",
                )
            )
        ]:
            monkeypatch.delitem(sys.modules, name)
            package_of, _, module = name.rpartition(".")
            monkeypatch.delattr(
                f"{package_of}.{module}", raising=False
            )  # where an earlier import left it
        monkeypatch.setitem(sys.modules, package, None)
        monkeypatch.setattr(sys, "argv", ["hotmem", *words])
        with pytest.raises(SystemExit):
            app.main()
        (line,) = capsys.readouterr().err.splitlines()
        assert line.endswith(f"Run: {hint}")


def test_ids_are_accepted_as_they_are_printed(ana: Run, database_file: Path) -> None:
    listed = ana("memories").output
    first, second = re.findall(r"(?m)^│ ([0-9a-f]{12}) │ .*The page", listed)
    found = ana("search", "page that needs pip install").output
    assert f"│ {first} │" in found
    assert ana("edit", first, "--importance", "5").exit_code == 0
    assert "found" in ana("trace", "pip install", "--expected", second).output
    merged = json.loads(ana("merge", first, second, "--json").output)
    decided = ana("decisions").output
    assert f"│ {merged['decision'][:12]} │ merged" in decided and f"→ {first}" in decided
    assert ana("undo", merged["decision"][:12]).exit_code == 0
    assert "undone on" in ana("decisions").output
    assert "1 memory" in ana("forget", "--memory-id", first).output
    assert "1 memory" in ana("forget", "--memory-id", second[:4]).output
    assert "not the ID of a memory" in refused(ana("forget", "--memory-id", first))


def test_an_ambiguous_abbreviation_is_refused(ana: Run, database_file: Path) -> None:
    with connect(database_file) as conn:
        conn.execute("UPDATE memories SET public_id = 'abcdef12' || substr(public_id, 9)")
        (known,) = conn.execute("SELECT count(*) FROM memories").fetchone()
    conn.close()
    error = refused(ana("forget", "--memory-id", "abcdef12"))
    assert "is the beginning of several ids: abcdef12" in error and "Give more characters" in error
    assert "abcdef12" in refused(ana("edit", "ABCDEF12", "--importance", "5"))
    assert ana("memories").output.count("abcdef12") == known, "nothing was forgotten"
    assert "not the id of a memory" in refused(ana("edit", "abc", "--importance", "5")), (
        "too short to be looked up"
    )


def test_the_id_of_another_user_is_refused(ana: Run, database_file: Path) -> None:
    run("store", "Ben likes tea.", "-u", "ben", "-d", database_file)
    (bens,) = re.findall(
        r"(?m)^│ ([0-9a-f]{12}) │", run("memories", "-u", "ben", "-d", database_file).output
    )
    assert "not the ID of a memory" in refused(ana("forget", "--memory-id", bens))
    assert "not the id of a memory" in refused(ana("edit", bens, "--importance", "5"))


def test_the_version_is_printed() -> None:
    assert run("--version").output == f"hotmem {__version__}\n"


USER_COMMANDS = CASES["user_commands"]


@pytest.mark.parametrize("words", USER_COMMANDS, ids=" ".join)
def test_the_error_for_an_unknown_user_lists_known_users(
    words: tuple[str, ...], database_file: Path, tmp_path: Path
) -> None:
    before = sorted(tmp_path.iterdir())
    assert refused(run(*words, "-u", "bob", "-d", database_file)).endswith(
        "has no user 'bob'. Name another with --user: 'ana'."
    )
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("words", USER_COMMANDS[:4], ids=" ".join)
def test_an_empty_memory_is_reported(words: tuple[str, ...], database: Path) -> None:
    database.touch()
    assert "is empty: no turn has been stored yet" in refused(
        run(*words, "-u", "ana", "-d", database)
    )


def test_a_path_that_is_not_a_file_is_reported(tmp_path: Path) -> None:
    assert f"{tmp_path} is a folder" in refused(run("stats", "-u", "ana", "-d", tmp_path))
    assert "copy.db not found. Name a file" in refused(run("restore", "copy.db", "-d", "new.db"))
    assert "A URL (sqlite://…) is no memory file" in str(
        run("stats", "-u", "ana", "-d", "sqlite:///memory.db").exception
    )


def test_forget_names_its_options(ana: Run) -> None:
    for more in ((), ("--everything", "--entity", "Potola")):
        assert "exactly one of --entity, --session, --memory-id and --everything" in refused(
            ana("forget", *more)
        )
