"""The `hotmem` command on a real file: every command, its errors and its effects."""

import asyncio
import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from shutil import copy
from zoneinfo import ZoneInfo

import pytest
from typer.main import get_command

from hotmem import DeletionChanged, InvalidInput, Turn
from hotmem.cli import app
from hotmem.cli.memory_file import option_name
from hotmem.portability import read_export
from hotmem.tools.registry import TOOLS, tool
from tests import warm
from tests.commands import Run, run
from tests.conversation import OpenMemory, said, turn_record
from tests.tables import tables

CASES = tables(__file__)

TURNS = (
    said("My dog is called Potola.", name="t1"),
    said("I live in Porto.", session="tuesday", minutes=1500, name="t2"),
)


@pytest.fixture(scope="module")
def shared_file(tmp_path_factory: pytest.TempPathFactory, open_memory: OpenMemory) -> Path:
    database = tmp_path_factory.mktemp("shared") / "memory.db"

    async def run() -> None:
        async with open_memory(database) as memory:
            for turn in TURNS:
                await memory.remember(turn)
            await memory.settle()

    asyncio.run(run())
    return database


@pytest.fixture
def database_file(shared_file: Path, database: Path) -> Path:
    """A file with two turns of Ana."""
    return Path(copy(shared_file, database))


@pytest.fixture
def ana(database_file: Path) -> Run:
    """Runs a command on the file, for Ana."""
    return lambda *words: run(*words, "-u", "ana", "-d", database_file)


pytestmark = pytest.mark.usefixtures("command_line")


def test_recall_shows_the_block(database_file: Path) -> None:
    outcome = run("recall", "What's my dog called?", "--user", "ana", "--database", database_file)
    assert outcome.exit_code == 0
    assert outcome.output.startswith("<memory>") and "Potola" in outcome.output


def test_recall_keeps_to_the_budget_of_the_environment(
    ana: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("recall", "What's my dog called?")
    monkeypatch.setenv("HOTMEM_MAX_CONTEXT_TOKENS", "10")
    assert "Potola" not in ana(*asked).output
    assert "Potola" in ana(*asked, "--tokens", "300").output


def test_evolve_reports_each_category(ana: Run) -> None:
    outcome = ana("evolve", "--category", "contexts")
    assert outcome.exit_code == 0 and "contexts" in outcome.output
    assert ana("subcategories").exit_code == 0
    assert "Rebuild the subcategories" in run("evolve", "--help").output


def test_a_change_of_a_subcategory_names_its_options(ana: Run) -> None:
    words = ("edit-subcategory", "contexts", "x")
    for options, expected in (
        ((), "--rename"),
        (("--pin", "--split"), "exactly one"),
        (("--rename", "y"), "has no subcategory 'x'"),
        (("--merge", "y", "--merge", "z"), "has no subcategory 'x'"),
    ):
        outcome = ana(*words, *options)
        assert isinstance(outcome.exception, InvalidInput) and expected in str(outcome.exception)


def test_recall_shows_why_there_is_no_block(ana: Run) -> None:
    outcome = ana("recall", "Hello!")
    assert outcome.exit_code == 0 and "no memory" in outcome.output


def test_memories_are_listed_and_past_ones_on_request(ana: Run, database_file: Path) -> None:
    listed = ana("memories")
    assert listed.exit_code == 0
    assert "Ana's dog is called Potola." in listed.output and "Ana lives in Porto." in listed.output
    assert "Porto" not in run("memories", "-u", "ben", "-d", database_file).output
    assert ana("memories", "--past").exit_code == 0
    listed = ana("memories", "--json")
    assert {one["text"] for one in json.loads(listed.output)} >= {"Ana lives in Porto."}


def test_a_user_is_exported_and_imported(ana: Run, tmp_path: Path) -> None:
    file, copy = tmp_path / "sessions.jsonl", tmp_path / "copy.db"
    out = ana("export", file)
    assert out.exit_code == 0 and "turn: 2" in out.output
    assert [
        record["id"]
        for record in map(json.loads, file.read_text("utf-8").splitlines())
        if record["type"] == "turn"
    ] == ["t1", "t2"]
    into = run("import", file, "-d", copy)
    assert into.exit_code == 0 and re.search(r"memories +2", into.output)
    again = json.loads(run("import", file, "-d", copy, "-u", "ana", "--json").stdout)
    assert (again["turns"], again["memories"], again["known"], again["sessions"]) == (0, 0, 4, 2)
    assert isinstance(ana("export", file).exception, InvalidInput)
    assert "Ana lives in Porto." in run("memories", "-u", "ana", "-d", copy).output


def test_a_copy_to_read_is_not_imported(ana: Run, tmp_path: Path) -> None:
    file, other = tmp_path / "all.json", tmp_path / "other.db"
    assert ana("export", file, "--all").exit_code == 0
    for form in ((), ("--form", "mem0")):
        outcome = run("import", file, "-u", "ana", "-d", other, *form)
        assert isinstance(outcome.exception, InvalidInput) and not other.exists()
        assert "a copy to read" in str(outcome.exception) and "--all" in str(outcome.exception)


def test_a_confirmed_deletion_deletes_no_more_than_was_shown(ana: Run) -> None:
    asked = ("forget", "--everything")
    printed = ana(*asked, "--dry-run").output
    code = re.search(r"--confirmation\s+(\w{12})", printed)
    assert code is not None
    ana("store", "The lamp is new.")
    refused = ana(*asked, "--confirmation", code[1])
    assert isinstance(refused.exception, DeletionChanged) and "--dry-run" in str(refused.exception)
    assert "The lamp is new." in ana("memories").output
    code = re.search(r"--confirmation\s+(\w{12})", ana(*asked, "--dry-run").output)
    assert code is not None
    assert "removed" in ana(*asked, "--confirmation", code[1]).output


def test_forget_asks_on_a_terminal(ana: Run, database_file: Path) -> None:
    """Each run has a terminal of its own, on which the answer was typed."""
    asked = ("forget", "-u", "ana", "-d", str(database_file), "--everything")
    for words, answer, expected in (
        (asked, b"n\n", "nothing was deleted"),
        ((*asked, "--dry-run"), b"", "would be deleted"),
        (asked, b"y\n", "Delete 2 turns"),
    ):
        terminal, theirs = pty.openpty()
        os.write(terminal, answer)
        done = warm.run(["-m", "hotmem.cli.app", *words], terminal=os.ttyname(theirs))
        assert done.returncode == 0, done.stderr
        shown = os.read(terminal, 65536).decode()
        os.close(theirs)
        os.close(terminal)
        assert expected in shown and ("[y/N]" in shown) == bool(answer)
        known = ana("memories").output
        assert ("Potola" in known) == (answer != b"y\n")


def test_forget_reports_what_was_deleted(ana: Run, database_file: Path) -> None:
    asked = ana("forget", "--entity", "potola", "--dry-run").output
    assert "1 turn, 1 memory and 1 session" in asked and "would be deleted" in asked
    assert "1 turn, 1 memory and 1 session" in ana("forget", "--entity", "potola").output
    assert "Nothing of it is left in the memory file." in " ".join(
        ana("forget", "--session", "tuesday").output.split()
    )
    assert "Nothing of it is stored" in ana("forget", "--everything").output
    assert (
        b"potola" not in database_file.read_bytes().lower()
        and b"porto" not in database_file.read_bytes().lower()
    )


def test_the_file_can_come_from_the_environment(
    database_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOTMEM_DATABASE", str(database_file))
    assert "Potola" in run("recall", "What's my dog called?", "-u", "ana").output


@pytest.mark.parametrize(("words", "kind", "fix"), CASES["an_error_is_one_line_with_its_fix"])
def test_an_error_is_one_line_with_its_fix_and_creates_no_file(
    words: list[str],
    kind: str,
    fix: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "notes.txt").write_text("a shopping list\n" * 200)
    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr(sys, "argv", ["hotmem", *words])
    with pytest.raises(SystemExit) as left:
        app.main()
    message = " ".join(capsys.readouterr().err.split())
    assert (
        left.value.code == 1
        and message.startswith(f"{kind}: ")
        and fix in message
        and "Traceback" not in message
    )
    assert sorted(tmp_path.iterdir()) == before


def test_forget_needs_a_target(ana: Run) -> None:
    outcome = ana("forget")
    assert isinstance(outcome.exception, InvalidInput)
    assert "Potola" in ana("recall", "What's my dog called?").output


TOOL_ONLY = frozenset(
    {
        "session",
        "conversation_weight",
        "return_debug",
        "time_range",
        "reason",
        "action",
        "target",
        "confirmation",
    }
)
"""Arguments without a command-line option."""

TURN = json.dumps(turn_record("Hi.", "1"))


@pytest.mark.parametrize(
    ("line", "fix"),
    [
        ("{", "Line 2 is not JSON"),
        ("[1]", "Line 2 is not an object"),
        (TURN.replace('"id"', '"name"'), "Line 2 has no id"),
        (TURN.replace("+00:00", ""), "Line 2 is invalid: spoken_at has no time zone"),
        (TURN.replace("2026-03-02", "yesterday"), "Line 2 is invalid"),
        (TURN.replace('"Hi."', '" "'), "Line 2 is invalid: text is empty"),
        (TURN.replace('"Hi."', "7"), "Line 2 is invalid: text is int"),
        (TURN.replace('"role": "user"', '"role": "robot"'), "Line 2 is invalid: role is"),
    ],
)
def test_an_invalid_line_is_named(line: str, fix: str, tmp_path: Path) -> None:
    file = tmp_path / "sessions.jsonl"
    file.write_text(f"{TURN}\n{line}\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=re.escape(fix)):
        list(read_export(file))


def test_blank_lines_and_questions_are_skipped(tmp_path: Path) -> None:
    file = tmp_path / "sessions.jsonl"
    file.write_text(f'\n{TURN}\n{{"type": "question"}}\n', encoding="utf-8")
    assert [turn.text for turn in read_export(file) if isinstance(turn, Turn)] == ["Hi."]
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInput, match="UTF-8"):
        list(read_export(file))


def test_a_stored_statement_is_found(ana: Run) -> None:
    stored = ana(
        "store", "The boiler's serial number is 44 B 19.", "--importance", "4", "--tag", "heating"
    )
    assert stored.exit_code == 0, stored.output
    assert "importance 4" in stored.output and "heating" in stored.output
    found = ana("search", "serial number of the boiler")
    assert "44 B 19" in found.output
    answer = json.loads(ana("search", "boiler", "--json").output)
    assert answer["results"][0]["importance"] == 4
    assert "Potola" in ana("contextual", "dog").output
    ranked = ("--ranking", "design", "--weight", "importance=9", "--weight", "meaning=0", "--json")
    found = ana("search", "dog", *ranked)
    assert json.loads(found.output)["results"][0]["importance"] == 4
    only_turns = ("--conversation-weight", "1", "--json")
    found = ana("search", "dog boiler", *only_turns)
    assert json.loads(found.output)["results"][0]["content_type"] == "turn"


def test_a_stored_statement_shows_what_it_ended(ana: Run) -> None:
    ana("store", "The alarm code is 4711.")
    stored = ana("store", "The new alarm code is 4712.").output
    ended = re.search(r"ended +The alarm code is 4711\. .*`hotmem undo (\w+)`", stored)
    assert ended is not None and stored.count("4711") == 1
    assert "4711" not in ana("memories").output
    assert ana("undo", ended[1]).exit_code == 0
    assert "4711" in ana("memories").output


def test_what_was_understood_is_shown(ana: Run) -> None:
    outcome = ana("store", "The tax number is 12.", "--tag", "tax")
    assert outcome.exit_code == 0, outcome.output
    found = ana("search", "everything tagged tax").output
    assert "The tax number is 12." in found and "understood as: notes, tag tax" in found
    assert "understood as" not in ana("search", "dog").output


def test_a_memory_is_edited(ana: Run) -> None:
    dog, *_ = [
        one["id"]
        for one in json.loads(ana("search", "dog", "--json").output)["results"]
        if one["category"]
    ]
    outcome = ana("edit", dog, "--content", "Ana's dog is called Pippa.", "--importance", "5")
    assert outcome.exit_code == 0 and "content" in outcome.output, outcome.output
    assert "Pippa" in ana("memories").output


@pytest.mark.parametrize(("words", "expected"), CASES["an_invalid_option_is_named"])
def test_an_invalid_option_is_named(ana: Run, words: list[str], expected: str) -> None:
    Path("other.jsonl").write_text(TURN.replace('"ana"', '"ben"'))
    outcome = ana(*words)
    assert outcome.exit_code != 0
    assert isinstance(outcome.exception, InvalidInput) and expected in str(outcome.exception)


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/Los_Angeles"])
def test_a_date_is_in_the_time_zone_of_the_user(
    ana: Run, monkeypatch: pytest.MonkeyPatch, zone: str
) -> None:
    monkeypatch.setenv("HOTMEM_TIME_ZONE", zone)
    day = TURNS[0].spoken_at.astimezone(ZoneInfo(zone)).date()

    def found(*words: str) -> bool:
        return "Potola" in ana("search", "dog", *words).output

    assert found("--after", day.isoformat(), "--before", str(day + timedelta(days=1)))
    assert not found("--before", day.isoformat()) and not found(
        "--after", str(day + timedelta(days=1))
    )


def test_empty_results_are_reported_in_words(ana: Run) -> None:
    assert ana("search", "dog", "--after", "2999-01-01").output == "no results\n"
    assert ana("forget", "--entity", "Zed").stdout == "no turn or memory mentions 'Zed'\n"


@pytest.mark.parametrize("name", [one.name for one in TOOLS])
def test_every_tool_argument_has_an_option(name: str) -> None:
    """The options of all commands count: some tools are several commands."""
    commands = get_command(app.app).commands.values()  # type: ignore[attr-defined]
    options = {
        opt
        for command in commands
        for one in command.params
        for opt in (*one.opts, *one.secondary_opts)
    }
    named = {
        option_name(one.name) for one in fields(tool(name).arguments) if one.name not in TOOL_ONLY
    }
    assert {one for one in named if one.startswith("--")} <= options


def test_decisions_are_undone_on_the_command_line(ana: Run) -> None:
    read = json.loads(ana("decisions", "--action", "read", "--json").stdout)["decisions"]
    (dog,) = [one for one in read if "t1" in one["reason"]]
    undone = json.loads(ana("undo", dog["id"][:10], "--json").stdout)
    assert "dog is called Potola" not in ana("memories").output
    assert "undone" in ana("decisions", "--action", "undone").output
    assert ana("undo", undone["decision"]).exit_code == 0
    assert "dog is called Potola" in ana("memories").output
    wrong = ana("decisions", "--action", "eaten").exception
    assert isinstance(wrong, InvalidInput) and "--action" in str(wrong)


def test_maintenance_commands_report_the_state(ana: Run, database_file: Path) -> None:
    for words, shown in CASES["maintenance_commands_report_the_state"]:
        outcome = ana(*words)
        assert outcome.exit_code == 0 and shown in outcome.output, outcome.output
    assert "archived" in ana("optimize-tags").output
    assert "sound" in run("validate", "-d", database_file).output
    assert "entries" in run("repair", "-d", database_file).output
    assert "language 'en'" in run("language", "-d", database_file).output
    assert (
        "entries indexed in the language 'de'" in run("language", "de", "-d", database_file).output
    )
    assert "language 'de'" in run("language", "-d", database_file).output
    assert json.loads(ana("stats", "--json").output)["turns"] == 2


def test_a_memory_is_backed_up_and_restored(database_file: Path, tmp_path: Path) -> None:
    assert run("backup", tmp_path / "copy.db", "-d", database_file).exit_code == 0
    outcome = run("restore", tmp_path / "copy.db", "-d", tmp_path / "again.db")
    assert outcome.exit_code == 0, outcome.output
    assert (
        "Potola"
        in run("recall", "What's my dog called?", "-u", "ana", "-d", tmp_path / "again.db").output
    )
    outcome = run("restore", tmp_path / "copy.db", "-d", database_file)
    assert str(outcome.exception) == f"{database_file} exists. Name another file."
    outcome = run("backup", database_file, "-d", database_file)
    assert str(outcome.exception) == f"{database_file} exists. Name another file."


@pytest.mark.parametrize(("command", "expected"), CASES["every_command_has_a_help_text"].items())
def test_every_command_has_a_help_text(command: str, expected: str) -> None:
    outcome = run(command, "--help")
    assert (
        outcome.exit_code == 0
        and expected in " ".join(outcome.output.split())
        and "database" in outcome.output
    )
    assert re.search(rf"\b{command}\b", run("--help").output)


def test_one_of_something_is_not_a_plural_and_what_is_unknown_is_a_dash(tmp_path: Path) -> None:
    file = tmp_path / "one.db"
    run("store", "The boiler is old.", "-u", "ana", "-d", file)
    shown = [
        run(*words, "-u", "ana", "-d", file).output
        for words in (("discover",), ("usage",), ("stats",), ("trace", "boiler"), ("decisions",))
    ]
    assert "1 memory, health" in shown[0] and "1 memory never found or used" in shown[1]
    for output in shown:
        assert not re.search(r"(?<![\d.,])1 (memories|turns|facts|hits|sessions|tags)\b", output)
        assert not re.search(r"\bNone\b", output)


def test_users_are_listed_with_what_is_stored_of_them(database_file: Path) -> None:
    run("store", "Ben likes tea.", "-u", "ben", "-d", database_file)
    shown = run("users", "-d", database_file).output
    assert re.search(r"ana +│ 2 +│ 2 +│ 2026", shown) and re.search(r"ben +│ 0 +│ 1 +│ –", shown)
    listed = json.loads(run("users", "-d", database_file, "--json").output)
    assert [one["user_id"] for one in listed] == ["ana", "ben"]
    assert listed[1]["last_said"] is None


def test_network_usage_and_trace_report_the_memory(ana: Run) -> None:
    ana("store", "Potola's vet is in Porto.")
    assert re.search(r"Potola +│ 1 +│ 2", ana("network").output)
    assert "Porto – Potola" in ana("network", "--about", "Porto").output
    used = ana("usage").output
    assert "0 in context blocks, 0 used by replies" in used and "Ana lives in Porto." in used
    assert "memories that searches found or replies used" in used
    traced = ana("trace", "What's my dog called?", "--expected", "is called Potola").output
    assert "verbatim" in traced and "found" in traced and "It is result 1" in traced
    assert "No stored text matches" in ana("trace", "dog", "--expected", "violin").output


def test_plots_are_drawn_or_the_missing_package_is_named(
    ana: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in (("network", "--min-count", "1"), ("timeline", "--by", "day")):
        png = tmp_path / f"{command[0]}.png"
        outcome = ana(*command, "--png", png)
        assert outcome.exit_code == 0 and "plot written to" in outcome.output
        assert png.read_bytes().startswith(b"\x89PNG")
        outcome = ana(*command, "--png", png)
        assert isinstance(outcome.exception, InvalidInput)
        assert str(outcome.exception).endswith("or pass --overwrite.")
        assert ana(*command, "--png", png, "--overwrite").exit_code == 0
    monkeypatch.delitem(sys.modules, "hotmem.cli.plots")
    monkeypatch.delitem(sys.modules, "hotmem.core.graph_layout")
    monkeypatch.delattr("hotmem.cli.plots")
    monkeypatch.setitem(sys.modules, "networkx", None)
    outcome = ana("network", "--png", tmp_path / "none.png")
    assert isinstance(outcome.exception, InvalidInput) and "pipecat-hotmem[pictures]" in str(
        outcome.exception
    )


def test_foreign_files_are_imported_with_a_report(tmp_path: Path) -> None:
    file, talk, database = tmp_path / "mem0.json", tmp_path / "talk.txt", tmp_path / "new.db"
    file.write_text(
        json.dumps(
            {
                "results": [
                    {
                        "id": "m1",
                        "memory": "Ana is allergic to walnuts.",
                        "user_id": "ana",
                        "categories": ["health"],
                    }
                ]
            }
        )
    )
    outcome = run("import", file, "-d", database)
    assert (
        outcome.exit_code == 0
        and "mem0" in outcome.output
        and re.search(r"health +│ \w+ 1", outcome.output)
    ), outcome.output
    assert "1 record has no date" in outcome.output
    talk.write_text("Bia: I live in Braga.\nHelper: Nice!", encoding="utf-8")
    assert isinstance(run("import", talk, "-d", database).exception, InvalidInput)
    outcome = run("import", talk, "-u", "bia", "-d", database, "--bot", "Helper")
    assert outcome.exit_code == 0 and "first date" in outcome.output
    assert "Bia lives in Braga." in run("memories", "-u", "bia", "-d", database).output


def test_the_command_line_imports_what_commands_need_when_they_run() -> None:
    code = "import sys, hotmem.cli.app; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "hotmem.cli.app" in loaded
    assert not loaded & {"apsw", "hotmem.memory", "hotmem.replay", "hotmem.storage", "spacy"}
