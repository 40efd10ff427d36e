"""Every evaluation command runs on a tiny input; a new command needs a case here."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from eval.__main__ import app
from eval.language import corrections
from eval.language.recognizers import FILES
from eval.learning import usage
from eval.peers.process import PeerMissing
from eval.tools import classification, equivalence, evolution
from hotmem.errors import InvalidInput
from tests.chat_server import chat_server
from tests.conversation import question_record, turn_record, write_records
from tests.eval import inline
from tests.postgres import server
from tests.tables import tables

TABLES = tables(__file__)

PEOPLE = ("Ana", "Ben", "Cleo", "Dan")
SESSIONS = TABLES["sessions"]
QUESTIONS = TABLES["questions"]
START = datetime(2024, 5, 6, 9, tzinfo=UTC)

TIME_CASE = TABLES["time_case"]
TALKS = """
# nadia and her assistant
## 2026-03-04
1 Nadia: so I finally handed in my notice, my last day is the thirtieth
2 Bot: Congratulations! How did your manager take it?
3 Nadia: my cat Pim has to go to the vet tomorrow
ask 1: When does Nadia stop working?
ask 3: Who has to go to the vet?
# omar and his assistant
## 2026-03-05
1 Omar: my brother Levin drives a tram in Bern
2 Bot: That sounds like a nice job.
3 Omar: I have planted tomatoes on the balcony
ask 1: What does Levin drive?
ask 3: What did Omar plant?
""".lstrip()


def check_summaries(found: dict[str, Any], _: Path) -> None:
    assert found["written"]["sentences"] > 1 and found["written"]["tokens"] == 0
    assert found["kept"]["as it was written"] == 5


def check_latency(found: dict[str, Any], _: Path) -> None:
    assert found["turns"] == 20
    assert found["recall"]["p50"] <= found["recall"]["p95"]
    assert found["stages"]


def check_scale(found: dict[str, Any], folder: Path) -> None:
    (measured,) = found.values()
    assert measured["nearest_found"] > 0.99
    assert (
        min(
            measured["recall"]["p50"],
            measured["floor"]["p50"],
            measured["fresh_per_s"],
            measured["bytes_a_turn"],
        )
        > 0
    )
    assert measured["layers"].keys() == {"facts", "sessions", "semantic", "verbatim"}
    assert {path.name for path in folder.iterdir()} == {"1x100.db", "1x100.floor", "1x100.npy"}


def check_fleet(found: dict[str, Any], folder: Path) -> None:
    turns = found["verified"]
    assert not found["broken"]
    assert turns["stored"] >= turns["acknowledged"] > 0
    assert found["added"]["number"] > 0
    assert found["outage_s"] and len(found["takeover_s"]) == 1
    assert {path.stem for path in folder.glob("*.jsonl")} == {"bot-0", "bot-1", "events"}


def check_answers(found: dict[str, Any], folder: Path) -> None:
    assert found["systems"].keys() == {"HotMem", "cosine", "full context"}
    assert {one["score"]["mean"] for one in found["systems"].values()} == {1.0}
    assert found["systems"]["HotMem"]["prompt_tokens"] == 100
    rows = 5 * len(found["systems"])
    assert found["rows"] == rows and found["dollars"] == rows * 100 * 2 / 1e6
    assert len((folder / "answers.jsonl").read_text("utf-8").splitlines()) == rows


def check_searches(found: dict[str, Any], folder: Path) -> None:
    assert found.keys() == {"search_memory", "cosine", "BM25", "half"} and found["half"] == "dev"
    assert found["search_memory"]["searches"] == found["BM25"]["searches"] == 3
    assert found["search_memory"]["right"]["mean"] == 1.0


def check_forgetting(found: dict[str, Any], folder: Path) -> None:
    assert found["half"] == "dev" and found["exactly what was meant is forgotten"]["of"] == 3
    assert found["requests that are asked back"]["count"] > 0
    assert found["something else is forgotten"]["count"] == 0


COMMANDS: dict[str, str] = TABLES["commands"]
"""Arguments and options by command; {name} stands for an input file or folder."""

ERRORS: Mapping[str, type[Exception]] = {"peers": PeerMissing}
"""Exceptions that end a command where a download or another program is missing."""

CHECKS: Mapping[str, Callable[[Any, Path], None]] = {
    "answers": check_answers,
    "forgetting": check_forgetting,
    "searches": check_searches,
    "summaries": check_summaries,
    "bench latency": check_latency,
    "bench fleet": check_fleet,
    "bench scale": check_scale,
}
"""Checks of a command's figures, and of the folder {folder}."""


def commands(command: object, path: str = "") -> Iterator[str]:
    """Yield the full names of all commands below a group."""
    if children := getattr(command, "commands", None):
        for name, child in children.items():
            yield from commands(child, f"{path} {name}".strip())
    else:
        yield path


def test_every_command_has_a_case() -> None:
    assert sorted(commands(typer.main.get_command(app))) == sorted(COMMANDS)


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, Path]:
    """Small files in the format of each dataset."""
    paths = {
        name: tmp_path / name for name in ("data", "time", "talks", "record", "folder", "restart")
    }
    for name in ("time", "folder"):
        paths[name].mkdir()
    write_records(paths["data"], dataset())
    write_records(paths["record"], [{"key": "a", "text": "b"}])
    for name in FILES:
        (paths["time"] / f"{name}.json").write_text(json.dumps([TIME_CASE]), "utf-8")
    paths["talks"].write_text(TALKS, "utf-8")
    return paths


def dataset() -> Iterator[dict[str, Any]]:
    """Yield turns and questions of some users in our own format."""
    for number, person in enumerate(PEOPLE):
        user = person.lower()
        for session, texts in enumerate(SESSIONS):
            for place, text in enumerate(texts):
                yield turn_record(
                    text.format("x" * number),
                    f"{user}-{session}-{place}",
                    user=user,
                    session=f"s{session}",
                    speaker=person,
                    at=START + timedelta(days=session, minutes=place),
                )
        for place, (text, evidence, category) in enumerate(QUESTIONS):
            said = [f"{user}-{session}-{turn}" for session, turn in evidence]
            answer = "I cannot say more than you told me." if evidence else ""
            asked_at = START + timedelta(days=9)
            record = question_record(text, f"{user}-q{place}", said, answer, user=user, at=asked_at)
            yield record | {"category": category}


@pytest.fixture
def few_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the handwritten test sets by every n-th of their lines."""
    sets: list[tuple[ModuleType, str, int]] = [
        (corrections, "CASES", 40),
        (usage, "TRIPLES", 41),
        (classification, "STATEMENTS", 101),
        (equivalence, "PAIRS", 41),
        (evolution, "TOPICS", 8),
        (evolution, "TRIAL", 4),
    ]
    for module, name, step in sets:
        header, *rows = getattr(module, name).read_text("utf-8").splitlines()
        small = tmp_path / f"{module.__name__}.tsv"
        small.write_text("\n".join([header, *rows[::step]]) + "\n", "utf-8")
        monkeypatch.setattr(module, name, small)


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten what benchmarks wait in real time, and what they do besides measuring."""
    for name, value in TABLES["shorter"]:
        monkeypatch.setattr(f"eval.bench.{name}", value)
    monkeypatch.setattr(usage, "RESAMPLES", 40)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("few_cases", "short_waits")
def test_command_runs(
    name: str,
    inputs: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("eval.bench.command.configure_logs", lambda **_: None)
    inline.install(monkeypatch)
    command = COMMANDS[name]
    with ExitStack() as stack:
        urls: dict[str, str] = {}
        if "{postgres}" in command:
            own = stack.enter_context(server("18", fsync="on", synchronous_commit="on"))
            urls["postgres"] = own.create_database("bench")
            own.write_restarter(inputs["restart"])
        if "{chat}" in command:
            chat = stack.enter_context(chat_server())
            chat.says = '{"scores": [1]}'
            urls["chat"] = chat.url
        arguments = command.format(**inputs, **urls).split()
        result = CliRunner().invoke(app, [*name.split(), *arguments])
    if name in ERRORS:
        assert isinstance(result.exception, ERRORS[name]), result.output
        return
    if result.exception is not None:
        raise AssertionError(result.output) from result.exception
    if "--json" in arguments:
        figures = json.loads(result.stdout.splitlines()[-1])
        assert figures
        if name in CHECKS:
            CHECKS[name](figures, inputs["folder"])


@pytest.mark.usefixtures("short_waits")
def test_latency_on_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.bench.command.configure_logs", lambda **_: None)
    with server("18") as own:
        url = own.create_database("bench")
        arguments = ["bench", "latency", "--turns", "20", "--questions", "2", "--database", url]
        first, again = (CliRunner().invoke(app, [*arguments, "--json"]) for _ in range(2))
    check_latency(json.loads(first.stdout.splitlines()[-1]), Path())
    assert isinstance(again.exception, InvalidInput)
