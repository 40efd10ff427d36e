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
from tests.commands import run
from tests.conversation import OpenMemory, said
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


pytestmark = pytest.mark.usefixtures("command_line")


def test_recall_shows_the_block(database_file: Path) -> None:
    outcome = run("recall", "What's my dog called?", "--user", "ana", "--database", database_file)
    assert outcome.exit_code == 0
    assert outcome.output.startswith("<memory>") and "Potola" in outcome.output


def test_recall_keeps_to_the_budget_of_the_environment(
    database_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("recall", "What's my dog called?", "-u", "ana", "-d", database_file)
    monkeypatch.setenv("HOTMEM_MAX_CONTEXT_TOKENS", "10")
    assert "Potola" not in run(*asked).output
    assert "Potola" in run(*asked, "--tokens", "300").output


def test_evolve_reports_each_category(database_file: Path) -> None:
    outcome = run("evolve", "--category", "contexts", "--user", "ana", "--database", database_file)
    assert outcome.exit_code == 0 and "contexts" in outcome.output
    assert run("subcategories", "--user", "ana", "--database", database_file).exit_code == 0
    assert "Rebuild the subcategories" in run("evolve", "--help").output


def test_a_change_of_a_subcategory_names_its_options(database_file: Path) -> None:
    words = ("edit-subcategory", "contexts", "x", "--user", "ana", "--database", database_file)
    for options, expected in (
        ((), "--rename"),
        (("--pin", "--split"), "exactly one"),
        (("--rename", "y"), "has no subcategory 'x'"),
        (("--merge", "y", "--merge", "z"), "has no subcategory 'x'"),
    ):
        outcome = run(*words, *options)
        assert isinstance(outcome.exception, InvalidInput) and expected in str(outcome.exception)


def test_recall_shows_why_there_is_no_block(database_file: Path) -> None:
    outcome = run("recall", "Hello!", "-u", "ana", "-d", database_file)
    assert outcome.exit_code == 0 and "no memory" in outcome.output


def test_memories_are_listed_and_past_ones_on_request(database_file: Path) -> None:
    listed = run("memories", "-u", "ana", "-d", database_file)
    assert listed.exit_code == 0
    assert "Ana's dog is called Potola." in listed.output and "Ana lives in Porto." in listed.output
    assert "Porto" not in run("memories", "-u", "ben", "-d", database_file).output
    assert run("memories", "-u", "ana", "-d", database_file, "--past").exit_code == 0
    listed = run("memories", "-u", "ana", "-d", database_file, "--json")
    assert {one["text"] for one in json.loads(listed.output)} >= {"Ana lives in Porto."}


def test_a_user_is_exported_and_imported(database_file: Path, tmp_path: Path) -> None:
    file, copy = tmp_path / "sessions.jsonl", tmp_path / "copy.db"
    out = run("export", file, "-u", "ana", "-d", database_file)
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
    assert isinstance(run("export", file, "-u", "ana", "-d", database_file).exception, InvalidInput)
    assert "Ana lives in Porto." in run("memories", "-u", "ana", "-d", copy).output


def test_a_copy_to_read_is_not_imported(database_file: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "all.json", tmp_path / "other.db"
    assert run("export", file, "-u", "ana", "-d", database_file, "--all").exit_code == 0
    for form in ((), ("--form", "mem0")):
        outcome = run("import", file, "-u", "ana", "-d", other, *form)
        assert isinstance(outcome.exception, InvalidInput) and not other.exists()
        assert "a copy to read" in str(outcome.exception) and "--all" in str(outcome.exception)


def test_a_confirmed_deletion_deletes_no_more_than_was_shown(database_file: Path) -> None:
    asked = ("forget", "-u", "ana", "-d", database_file, "--everything")
    printed = run(*asked, "--dry-run").output
    code = re.search(r"--confirmation\s+(\w{12})", printed)
    assert code is not None
    run("store", "The lamp is new.", "-u", "ana", "-d", database_file)
    refused = run(*asked, "--confirmation", code[1])
    assert isinstance(refused.exception, DeletionChanged) and "--dry-run" in str(refused.exception)
    assert "The lamp is new." in run("memories", "-u", "ana", "-d", database_file).output
    code = re.search(r"--confirmation\s+(\w{12})", run(*asked, "--dry-run").output)
    assert code is not None
    assert "removed" in run(*asked, "--confirmation", code[1]).output


def test_forget_asks_on_a_terminal(database_file: Path) -> None:
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
        known = run("memories", "-u", "ana", "-d", database_file).output
        assert ("Potola" in known) == (answer != b"y\n")


def test_forget_reports_what_was_deleted(database_file: Path) -> None:
    asked = run(
        "forget", "-u", "ana", "-d", database_file, "--entity", "potola", "--dry-run"
    ).output
    assert "1 turn, 1 memory and 1 session" in asked and "would be deleted" in asked
    assert (
        "1 turn, 1 memory and 1 session"
        in run("forget", "-u", "ana", "-d", database_file, "--entity", "potola").output
    )
    assert "Nothing of it is left in the memory file." in " ".join(
        run("forget", "-u", "ana", "-d", database_file, "--session", "tuesday").output.split()
    )
    assert (
        "Nothing of it is stored"
        in run("forget", "-u", "ana", "-d", database_file, "--everything").output
    )
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


def test_forget_needs_a_target(database_file: Path) -> None:
    outcome = run("forget", "-u", "ana", "-d", database_file)
    assert isinstance(outcome.exception, InvalidInput)
    assert (
        "Potola" in run("recall", "What's my dog called?", "-u", "ana", "-d", database_file).output
    )


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

TURN_FIELDS = {
    "id": "1",
    "user_id": "ana",
    "session_id": "s",
    "role": "user",
    "text": "Hi.",
    "spoken_at": "2026-03-02T09:00:00+00:00",
}
TURN = json.dumps({"type": "turn"} | TURN_FIELDS)


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


def test_a_stored_statement_is_found(database_file: Path) -> None:
    stored = run(
        "store",
        "The boiler's serial number is 44 B 19.",
        "-u",
        "ana",
        "-d",
        database_file,
        "--importance",
        "4",
        "--tag",
        "heating",
    )
    assert stored.exit_code == 0, stored.output
    assert "importance 4" in stored.output and "heating" in stored.output
    found = run("search", "serial number of the boiler", "-u", "ana", "-d", database_file)
    assert "44 B 19" in found.output
    answer = json.loads(run("search", "boiler", "-u", "ana", "-d", database_file, "--json").output)
    assert answer["results"][0]["importance"] == 4
    assert "Potola" in run("contextual", "dog", "-u", "ana", "-d", database_file).output
    ranked = ("--ranking", "design", "--weight", "importance=9", "--weight", "meaning=0", "--json")
    found = run("search", "dog", "-u", "ana", "-d", database_file, *ranked)
    assert json.loads(found.output)["results"][0]["importance"] == 4
    only_turns = ("--conversation-weight", "1", "--json")
    found = run("search", "dog boiler", "-u", "ana", "-d", database_file, *only_turns)
    assert json.loads(found.output)["results"][0]["content_type"] == "turn"


def test_a_stored_statement_shows_what_it_ended(database_file: Path) -> None:
    given = ("-u", "ana", "-d", database_file)
    run("store", "The alarm code is 4711.", *given)
    stored = run("store", "The alarm code is 4712.", *given).output
    ended = re.search(r"ended +The alarm code is 4711\. .*`hotmem undo (\w+)`", stored)
    assert ended is not None and stored.count("4711") == 1
    assert "4711" not in run("memories", *given).output
    assert run("undo", ended[1], *given).exit_code == 0
    assert "4711" in run("memories", *given).output


def test_what_was_understood_is_shown(database_file: Path) -> None:
    outcome = run(
        "store", "The tax number is 12.", "-u", "ana", "-d", database_file, "--tag", "tax"
    )
    assert outcome.exit_code == 0, outcome.output
    found = run("search", "everything tagged tax", "-u", "ana", "-d", database_file).output
    assert "The tax number is 12." in found and "understood as: notes, tag tax" in found
    assert "understood as" not in run("search", "dog", "-u", "ana", "-d", database_file).output


def test_a_memory_is_edited(database_file: Path) -> None:
    dog, *_ = [
        one["id"]
        for one in json.loads(
            run("search", "dog", "-u", "ana", "-d", database_file, "--json").output
        )["results"]
        if one["category"]
    ]
    outcome = run(
        "edit",
        dog,
        "-u",
        "ana",
        "-d",
        database_file,
        "--content",
        "Ana's dog is called Pippa.",
        "--importance",
        "5",
    )
    assert outcome.exit_code == 0 and "content" in outcome.output, outcome.output
    assert "Pippa" in run("memories", "-u", "ana", "-d", database_file).output


@pytest.mark.parametrize(("words", "expected"), CASES["an_invalid_option_is_named"])
def test_an_invalid_option_is_named(database_file: Path, words: list[str], expected: str) -> None:
    Path("other.jsonl").write_text(TURN.replace('"ana"', '"ben"'))
    outcome = run(*words, "-u", "ana", "-d", database_file)
    assert outcome.exit_code != 0
    assert isinstance(outcome.exception, InvalidInput) and expected in str(outcome.exception)


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/Los_Angeles"])
def test_a_date_is_in_the_time_zone_of_the_user(
    database_file: Path, monkeypatch: pytest.MonkeyPatch, zone: str
) -> None:
    monkeypatch.setenv("HOTMEM_TIME_ZONE", zone)
    day = TURNS[0].spoken_at.astimezone(ZoneInfo(zone)).date()

    def found(*words: str) -> bool:
        return "Potola" in run("search", "dog", "-u", "ana", "-d", database_file, *words).output

    assert found("--after", day.isoformat(), "--before", str(day + timedelta(days=1)))
    assert not found("--before", day.isoformat()) and not found(
        "--after", str(day + timedelta(days=1))
    )


def test_empty_results_are_reported_in_words(database_file: Path) -> None:
    assert (
        run("search", "dog", "-u", "ana", "-d", database_file, "--after", "2999-01-01").output
        == "no results\n"
    )
    assert (
        run("forget", "-u", "ana", "-d", database_file, "--entity", "Zed").stdout
        == "no turn or memory mentions 'Zed'\n"
    )


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


def test_decisions_are_undone_on_the_command_line(database_file: Path) -> None:
    asked = ("-u", "ana", "-d", database_file)
    read = json.loads(run("decisions", "--action", "read", "--json", *asked).stdout)["decisions"]
    (dog,) = [one for one in read if "t1" in one["reason"]]
    undone = json.loads(run("undo", dog["id"][:10], "--json", *asked).stdout)
    assert "dog is called Potola" not in run("memories", *asked).output
    assert "undone" in run("decisions", "--action", "undone", *asked).output
    assert run("undo", undone["decision"], *asked).exit_code == 0
    assert "dog is called Potola" in run("memories", *asked).output
    wrong = run("decisions", "--action", "eaten", *asked).exception
    assert isinstance(wrong, InvalidInput) and "--action" in str(wrong)


def test_maintenance_commands_report_the_state(database_file: Path) -> None:
    for words, shown in (
        (("stats",), "by category"),
        (("discover",), "search_memory"),
        (("timeline",), "2026-03"),
        (("decisions",), "read"),
        (("decisions", "--action", "merged"), "no decisions"),
        (("quality",), "no reply to a context block is recorded"),
    ):
        outcome = run(*words, "-u", "ana", "-d", database_file)
        assert outcome.exit_code == 0 and shown in outcome.output, outcome.output
    assert "archived" in run("optimize-tags", "-u", "ana", "-d", database_file).output
    assert "sound" in run("validate", "-d", database_file).output
    assert "entries" in run("repair", "-d", database_file).output
    assert "language 'en'" in run("language", "-d", database_file).output
    assert (
        "entries indexed in the language 'de'" in run("language", "de", "-d", database_file).output
    )
    assert "language 'de'" in run("language", "-d", database_file).output
    assert json.loads(run("stats", "-u", "ana", "-d", database_file, "--json").output)["turns"] == 2


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


@pytest.mark.parametrize(
    ("command", "expected"),
    {
        "store": "statement", "search": "most relevant first", "contextual": "conversations",
        "discover": "tools", "stats": "Count", "timeline": "--png", "edit": "restores",
        "quality": "used", "evolve": "subcategories", "subcategories": "each category",
        "edit-subcategory": "Rename",
        "network": "--png", "usage": "never used", "trace": "--expected", "export": "JSON Lines",
        "import": "--from-user", "backup": "while bots are using it", "audit": "no memory text",
        "retain": "older than", "restore": "never overwritten", "optimize-tags": "tags",
        "users": "user IDs",
        "merge": "memory", "decisions": "reasons", "undo": "Undo", "validate": "integrity",
        "repair": "Rebuild", "language": "index all words again", "doctor": "needs attention",
        "forget": "permanently",
        "serve-mcp": "--files", "recall": "context block", "memories": "memories",
    }.items(),
)  # fmt: skip
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


def test_network_usage_and_trace_report_the_memory(database_file: Path) -> None:
    run("store", "Potola's vet is in Porto.", "-u", "ana", "-d", database_file)
    assert re.search(r"Potola +│ 1 +│ 2", run("network", "-u", "ana", "-d", database_file).output)
    assert (
        "Porto – Potola"
        in run("network", "-u", "ana", "-d", database_file, "--about", "Porto").output
    )
    used = run("usage", "-u", "ana", "-d", database_file).output
    assert "0 in context blocks, 0 used by replies" in used and "Ana lives in Porto." in used
    assert "memories that searches found or replies used" in used
    traced = run(
        "trace",
        "What's my dog called?",
        "-u",
        "ana",
        "-d",
        database_file,
        "--expected",
        "is called Potola",
    ).output
    assert "verbatim" in traced and "found" in traced and "It is result 1" in traced
    assert (
        "No stored text matches"
        in run("trace", "dog", "-u", "ana", "-d", database_file, "--expected", "violin").output
    )


def test_plots_are_drawn_or_the_missing_package_is_named(
    database_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in (("network", "--min-count", "1"), ("timeline", "--by", "day")):
        png = tmp_path / f"{command[0]}.png"
        outcome = run(*command, "-u", "ana", "-d", database_file, "--png", png)
        assert outcome.exit_code == 0 and "plot written to" in outcome.output
        assert png.read_bytes().startswith(b"\x89PNG")
        outcome = run(*command, "-u", "ana", "-d", database_file, "--png", png)
        assert isinstance(outcome.exception, InvalidInput)
        assert str(outcome.exception).endswith("or pass --overwrite.")
        assert (
            run(*command, "-u", "ana", "-d", database_file, "--png", png, "--overwrite").exit_code
            == 0
        )
    monkeypatch.delitem(sys.modules, "hotmem.cli.plots")
    monkeypatch.delitem(sys.modules, "hotmem.core.graph_layout")
    monkeypatch.delattr("hotmem.cli.plots")
    monkeypatch.setitem(sys.modules, "networkx", None)
    outcome = run("network", "-u", "ana", "-d", database_file, "--png", tmp_path / "none.png")
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
