"""The `hotmem` command on a real file: every command, its errors, and what it leaves behind."""

import asyncio
import json
import re
import sys
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from shutil import copy
from zoneinfo import ZoneInfo

import pytest
from typer.main import get_command
from typer.testing import CliRunner, Result

from hotmem import InvalidInput, Memory, Turn
from hotmem.cli import app, console
from hotmem.cli.commands import option
from hotmem.models import CachedEncoder, Language
from hotmem.options import ModelOptions
from hotmem.portability import imported
from hotmem.settings import Settings
from hotmem.tools.registry import TOOLS, tool
from tests.conversation import said

TURNS = (
    said("My dog is called Potola.", name="t1"),
    said("I live in Porto.", session="tuesday", minutes=1500, name="t2"),
)


@pytest.fixture(scope="module")
def told_once(
    tmp_path_factory: pytest.TempPathFactory, encoder: CachedEncoder, language: Language
) -> Path:
    database = tmp_path_factory.mktemp("told") / "memory.db"

    async def run() -> None:
        async with Memory.open(database, encoder=encoder, language=language) as memory:
            for turn in TURNS:
                await memory.remember(turn)
            await memory.settle()

    asyncio.run(run())
    return database


@pytest.fixture
def told(told_once: Path, database: Path) -> Path:
    """A file in which Ana has said two things."""
    return Path(copy(told_once, database))


@pytest.fixture(autouse=True)
def surroundings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, model_options: ModelOptions
) -> None:
    """The tests' prepared models, a wide screen, and a folder without settings of anyone's."""
    for name in Settings.model_fields:
        monkeypatch.delenv(f"HOTMEM_{name.upper()}", raising=False)
    monkeypatch.setenv("HOTMEM_CACHE_DIR", str(model_options.cache_dir))
    monkeypatch.setattr(console, "screen", console.console(width=200))
    monkeypatch.chdir(tmp_path)


def run(*words: str | Path) -> Result:
    """Runs a command."""
    return CliRunner().invoke(app.app, [str(word) for word in words])


def test_recall_shows_the_block(told: Path) -> None:
    outcome = run("recall", "What's my dog called?", "--user", "ana", "--database", told)
    assert outcome.exit_code == 0
    assert outcome.output.startswith("<memory>") and "Potola" in outcome.output


def test_evolve_says_what_became_of_each_category(told: Path) -> None:
    outcome = run("evolve", "--category", "contexts", "--user", "ana", "--database", told)
    assert outcome.exit_code == 0 and "contexts" in outcome.output
    assert run("subcategories", "--user", "ana", "--database", told).exit_code == 0
    assert "subcategories anew" in run("evolve", "--help").output


def test_recall_shows_why_there_is_no_block(told: Path) -> None:
    outcome = run("recall", "Hello!", "-u", "ana", "-d", told)
    assert outcome.exit_code == 0 and "no memory" in outcome.output


def test_memories_are_listed_and_past_ones_if_asked(told: Path) -> None:
    listed = run("memories", "-u", "ana", "-d", told)
    assert listed.exit_code == 0
    assert "Ana's dog is called Potola." in listed.output and "Ana lives in Porto." in listed.output
    assert "Porto" not in run("memories", "-u", "ben", "-d", told).output
    assert run("memories", "-u", "ana", "-d", told, "--past").exit_code == 0


def test_sessions_go_out_and_in_again(told: Path, tmp_path: Path) -> None:
    file, copy = tmp_path / "sessions.jsonl", tmp_path / "copy.db"
    out = run("export", file, "-u", "ana", "-d", told)
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
    assert isinstance(run("export", file, "-u", "ana", "-d", told).exception, InvalidInput)
    assert "Ana lives in Porto." in run("memories", "-u", "ana", "-d", copy).output


def test_forget_says_how_much_went(told: Path) -> None:
    asked = run("forget", "-u", "ana", "-d", told, "--entity", "potola", "--dry-run").output
    assert "1 turn, 1 memory and 1 session" in asked and "would be forgotten" in asked
    assert (
        "1 turn, 1 memory and 1 session"
        in run("forget", "-u", "ana", "-d", told, "--entity", "potola").output
    )
    assert "Nothing of it is left in the memory file." in " ".join(
        run("forget", "-u", "ana", "-d", told, "--session", "tuesday").output.split()
    )
    assert (
        "Nothing of it is stored" in run("forget", "-u", "ana", "-d", told, "--everything").output
    )
    assert b"potola" not in told.read_bytes().lower() and b"porto" not in told.read_bytes().lower()


def test_the_file_can_come_from_the_environment(
    told: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOTMEM_DATABASE", str(told))
    assert "Potola" in run("recall", "What's my dog called?", "-u", "ana").output


@pytest.mark.parametrize(
    ("words", "kind", "fix"),
    [
        (("memories", "-u", "ana", "-d", "missing.db"), "InvalidInput", "Name a memory file"),
        (("recall", "x", "-u", "ana"), "InvalidInput", "Name a memory file"),
        (
            ("forget", "-u", "ana", "-d", "notes.txt", "--everything"),
            "StoreDamaged",
            "open another file",
        ),
        (("import", "missing.jsonl", "-d", "new.db"), "InvalidInput", "Pass a JSON Lines file"),
        (("import", "notes.txt", "-d", "new.db"), "InvalidInput", "has no form that is known"),
    ],
)
def test_an_error_is_one_message_with_its_fix_and_makes_no_file(
    words: tuple[str, ...],
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
    told = " ".join(capsys.readouterr().err.split())
    assert (
        left.value.code == 1
        and told.startswith(f"{kind}: ")
        and fix in told
        and "Traceback" not in told
    )
    assert sorted(tmp_path.iterdir()) == before


def test_forget_needs_to_be_told_what(told: Path) -> None:
    outcome = run("forget", "-u", "ana", "-d", told)
    assert isinstance(outcome.exception, InvalidInput)
    assert "Potola" in run("recall", "What's my dog called?", "-u", "ana", "-d", told).output


UNOFFERED = frozenset(
    {"session", "conversation_weight", "return_debug", "time_range", "reason", "action", "target"}
)
"""Arguments that programs alone have."""

SAID = {
    "id": "1",
    "user_id": "ana",
    "session_id": "s",
    "role": "user",
    "text": "Hi.",
    "spoken_at": "2026-03-02T09:00:00+00:00",
}
TURN = json.dumps({"type": "turn"} | SAID)


@pytest.mark.parametrize(
    ("line", "fix"),
    [
        ("{", "Line 2 is not JSON"),
        ("[1]", "Line 2 is not an object"),
        (TURN.replace('"id"', '"name"'), "Line 2 has no id"),
        (TURN.replace("+00:00", ""), "Line 2 cannot be used: spoken_at has no time zone"),
        (TURN.replace("2026-03-02", "yesterday"), "Line 2 cannot be used"),
        (TURN.replace('"Hi."', '" "'), "Line 2 cannot be used: text is empty"),
        (TURN.replace('"Hi."', "7"), "Line 2 cannot be used: text is int"),
        (TURN.replace('"role": "user"', '"role": "robot"'), "Line 2 cannot be used: role is"),
    ],
)
def test_a_bad_line_is_named(line: str, fix: str, tmp_path: Path) -> None:
    file = tmp_path / "sessions.jsonl"
    file.write_text(f"{TURN}\n{line}\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=re.escape(fix)):
        list(imported(file))


def test_blank_lines_and_questions_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "sessions.jsonl"
    file.write_text(f'\n{TURN}\n{{"type": "question"}}\n', encoding="utf-8")
    assert [turn.text for turn in imported(file) if isinstance(turn, Turn)] == ["Hi."]
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInput, match="UTF-8"):
        list(imported(file))


def test_what_is_stored_is_found(told: Path) -> None:
    stored = run(
        "store",
        "The boiler's serial number is 44 B 19.",
        "-u",
        "ana",
        "-d",
        told,
        "--importance",
        "4",
        "--tag",
        "heating",
    )
    assert stored.exit_code == 0, stored.output
    assert "importance 4" in stored.output and "heating" in stored.output
    found = run("search", "serial number of the boiler", "-u", "ana", "-d", told)
    assert "44 B 19" in found.output
    answer = json.loads(run("search", "boiler", "-u", "ana", "-d", told, "--json").output)
    assert answer["results"][0]["importance"] == 4
    assert "Potola" in run("contextual", "dog", "-u", "ana", "-d", told).output


def test_a_memory_is_edited(told: Path) -> None:
    dog, *_ = [
        one["id"]
        for one in json.loads(run("search", "dog", "-u", "ana", "-d", told, "--json").output)[
            "results"
        ]
        if one["category"]
    ]
    outcome = run(
        "edit",
        dog,
        "-u",
        "ana",
        "-d",
        told,
        "--content",
        "Ana's dog is called Pippa.",
        "--importance",
        "5",
    )
    assert outcome.exit_code == 0 and "content" in outcome.output, outcome.output
    assert "Pippa" in run("memories", "-u", "ana", "-d", told).output


@pytest.mark.parametrize(
    ("words", "told_of"),
    [
        (("store", "My dog is big.", "--importance", "9"), "--importance is 9"),
        (("search", "dog", "--content-type", "poem"), "--content-type is 'poem'"),
        (("search", "dog", "--after", "yesterday"), "--after is 'yesterday'"),
        (("timeline", "--by", "week"), "--by is 'week'"),
        (("undo", "nothing"), "is nothing that can be taken back"),
        (
            ("search", "dog", "--after", "2026-12-01", "--before", "2026-11-01"),
            "ends (before) earlier",
        ),
        (("timeline", "--after", "2026-12-01", "--before", "2026-11-01"), "ends (before) earlier"),
        (("usage", "--after", "2026-12-01", "--before", "2026-11-01"), "ends (before) earlier"),
        (("store", "My dog is big.", "--expires", "soon"), "--expires is 'soon'"),
        (("store", "My dog is big.", "--tag", ""), "--tag is ''"),
        (("store", ""), "Write some words."),
        (("search", "dog", "--no-conversation", "--no-stored"), "nothing is searched"),
        (("usage", "--timezone", "Mars"), "--timezone"),
        (
            ("edit", "nothing"),
            "--content, --category, --kind, --importance, --note, --tag, --expires, --holds",
        ),
        (("forget", "--session", "wednesday"), "'wednesday' is no conversation"),
        (("import", "other.jsonl"), "--from-user"),
    ],
)
def test_a_wrong_option_of_a_tool_is_named(
    told: Path, words: tuple[str, ...], told_of: str
) -> None:
    Path("other.jsonl").write_text(TURN.replace('"ana"', '"ben"'))
    outcome = run(*words, "-u", "ana", "-d", told)
    assert outcome.exit_code != 0
    assert isinstance(outcome.exception, InvalidInput) and told_of in str(outcome.exception)


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/Los_Angeles"])
def test_a_day_is_the_users_own(told: Path, monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    monkeypatch.setenv("HOTMEM_TIME_ZONE", zone)
    day = TURNS[0].spoken_at.astimezone(ZoneInfo(zone)).date()

    def found(*words: str) -> bool:
        return "Potola" in run("search", "dog", "-u", "ana", "-d", told, *words).output

    assert found("--after", day.isoformat(), "--before", str(day + timedelta(days=1)))
    assert not found("--before", day.isoformat()) and not found(
        "--after", str(day + timedelta(days=1))
    )


def test_what_is_not_found_is_said_in_words(told: Path) -> None:
    assert (
        run("search", "dog", "-u", "ana", "-d", told, "--after", "2999-01-01").output
        == "nothing was found\n"
    )
    assert (
        run("forget", "-u", "ana", "-d", told, "--entity", "Zed").stdout
        == "nothing that was said or is known mentions 'Zed'\n"
    )


@pytest.mark.parametrize("name", [one.name for one in TOOLS])
def test_every_argument_of_a_tool_is_named_as_its_option(name: str) -> None:
    """Of the tools that are commands under another name or in several, all options are looked through."""
    commands = get_command(app.app).commands.values()  # type: ignore[attr-defined]
    options = {
        opt
        for command in commands
        for one in command.params
        for opt in (*one.opts, *one.secondary_opts)
    }
    named = {option(one.name) for one in fields(tool(name).arguments) if one.name not in UNOFFERED}
    assert {one for one in named if one.startswith("--")} <= options


def test_the_state_of_a_memory_is_shown(told: Path) -> None:
    for words, shown in (
        (("stats",), "by category"),
        (("discover",), "search_memory"),
        (("timeline",), "2026-03"),
        (("decisions",), "nothing has been decided"),
        (("quality",), "no reply to a block is recorded"),
    ):
        outcome = run(*words, "-u", "ana", "-d", told)
        assert outcome.exit_code == 0 and shown in outcome.output, outcome.output
    assert "archived" in run("optimise", "-u", "ana", "-d", told).output
    assert "sound" in run("validate", "-d", told).output
    assert "entries" in run("repair", "-d", told).output
    assert json.loads(run("stats", "-u", "ana", "-d", told, "--json").output)["turns"] == 2


def test_a_memory_is_copied_and_restored(told: Path, tmp_path: Path) -> None:
    assert run("backup", tmp_path / "copy.db", "-d", told).exit_code == 0
    outcome = run("restore", tmp_path / "copy.db", "-d", tmp_path / "again.db")
    assert outcome.exit_code == 0, outcome.output
    assert (
        "Potola"
        in run("recall", "What's my dog called?", "-u", "ana", "-d", tmp_path / "again.db").output
    )
    outcome = run("restore", tmp_path / "copy.db", "-d", told)
    assert isinstance(outcome.exception, InvalidInput) and "exists" in str(outcome.exception)


@pytest.mark.parametrize(
    ("command", "told_of"),
    {
        "store": "statement", "search": "relevant first", "contextual": "conversations", "discover": "tools", "stats": "Counts", "timeline": "--png",
        "edit": "takes new words back", "quality": "used", "evolve": "subcategories", "subcategories": "evolved",
        "network": "--png", "usage": "never used", "trace": "--expected", "export": "JSON Lines", "import": "--from-user", "backup": "bots go on",
        "audit": "no words", "retain": "too old",
        "restore": "never overwritten", "optimise": "tag", "merge": "memory", "decisions": "decided", "undo": "back", "validate": "indexes",
        "repair": "anew", "doctor": "needs attention", "forget": "everywhere", "serve-mcp": "--files", "recall": "context block", "memories": "known",
    }.items(),
)  # fmt: skip
def test_every_command_explains_itself(command: str, told_of: str) -> None:
    outcome = run(command, "--help")
    assert (
        outcome.exit_code == 0
        and told_of in " ".join(outcome.output.split())
        and "database" in outcome.output
    )
    assert re.search(rf"\b{command}\b", run("--help").output)


def test_what_is_spoken_of_and_used_and_how_a_search_went(told: Path) -> None:
    run("store", "Potola's vet is in Porto.", "-u", "ana", "-d", told)
    assert re.search(r"Potola +│ 1 +│ 2", run("network", "-u", "ana", "-d", told).output)
    assert "Porto – Potola" in run("network", "-u", "ana", "-d", told, "--about", "Porto").output
    used = run("usage", "-u", "ana", "-d", told).output
    assert "0 given, 0 used" in used and "Ana lives in Porto." in used
    traced = run(
        "trace", "What's my dog called?", "-u", "ana", "-d", told, "--expected", "is called Potola"
    ).output
    assert "verbatim" in traced and "found" in traced and "It is result 1" in traced
    assert (
        "Nothing that is stored holds"
        in run("trace", "dog", "-u", "ana", "-d", told, "--expected", "violin").output
    )


def test_pictures_are_drawn_or_it_is_said_what_is_missing(
    told: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in (("network", "--min-count", "1"), ("timeline", "--by", "day")):
        png = tmp_path / f"{command[0]}.png"
        outcome = run(*command, "-u", "ana", "-d", told, "--png", png)
        assert outcome.exit_code == 0 and "drawn in" in outcome.output
        assert png.read_bytes().startswith(b"\x89PNG")
        assert isinstance(
            run(*command, "-u", "ana", "-d", told, "--png", png).exception, InvalidInput
        )
        assert run(*command, "-u", "ana", "-d", told, "--png", png, "--overwrite").exit_code == 0
    monkeypatch.delitem(sys.modules, "hotmem.cli.plots")
    monkeypatch.delattr("hotmem.cli.plots")
    monkeypatch.setitem(sys.modules, "networkx", None)
    outcome = run("network", "-u", "ana", "-d", told, "--png", tmp_path / "none.png")
    assert isinstance(outcome.exception, InvalidInput) and "pipecat-hotmem[pictures]" in str(
        outcome.exception
    )


def test_what_others_kept_is_taken_in_with_a_report(tmp_path: Path) -> None:
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
    assert "carry no date" in outcome.output
    talk.write_text("Bia: I live in Braga.\nHelper: Nice!", encoding="utf-8")
    assert isinstance(run("import", talk, "-d", database).exception, InvalidInput)
    outcome = run("import", talk, "-u", "bia", "-d", database, "--bot", "Helper")
    assert outcome.exit_code == 0 and "first day" in outcome.output
    assert "Bia lives in Braga." in run("memories", "-u", "bia", "-d", database).output
