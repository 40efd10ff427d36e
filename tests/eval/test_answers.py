"""Answers from contexts, against a local endpoint that answers, fails, stalls or talks nonsense."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eval.__main__ import app
from eval.answers import run as answer_run
from eval.answers.prompts import UNKNOWN, judge_messages, points, read_verdict
from eval.answers.rows import AnswerRow, Prices, RowFile, summarize
from eval.datasets import LOADERS, Dataset, Question
from hotmem.errors import InvalidInput
from tests.chat_server import ChatServer, chat_server
from tests.conversation import question_record, turn_record, write_records
from tests.eval import inline
from tests.eval.test_commands import START
from tests.tables import tables

CASES = tables(__file__)

FACTS = {
    "What is my dog called?": "Potola",
    "Where do I keep the spare key?": "under the blue pot",
    "When is the dentist?": "Friday",
}
SAID = (
    "My dog is called Potola.",
    "I keep the spare key under the blue pot.",
    "The dentist moved my appointment to Friday.",
)


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """An endpoint that answers from the notes it is given, and judges by the words."""
    monkeypatch.setattr(answer_run, "PAUSES_S", (0.0, 0.0))
    monkeypatch.setattr(answer_run, "MAX_FAILURES", 3)
    inline.install(monkeypatch)
    with chat_server() as running:
        monkeypatch.setattr(running, "response", lambda: respond(running))
        yield running


def respond(chat: ChatServer) -> bytes:
    """The response to the latest request, or the body that is set."""
    if chat.body is not None:
        return chat.body
    asked = chat.asked[-1]
    content = asked["messages"][1]["content"]
    if asked["model"] == "judge":
        point, answer = content.split("\n1. ")[1].split("\n\nAnswer:\n")
        text = json.dumps({"scores": [int(point in answer)]})
    else:
        question = content.rpartition("Question: ")[2]
        known = FACTS.get(question, "")
        text = known if known and known in content.partition("Question: ")[0] else "I don't know."
    message = {"role": "assistant", "content": text}
    body: dict[str, Any] = {"choices": [{"message": message}]}
    return json.dumps(body | ({} if chat.usage is None else {"usage": chat.usage})).encode()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    records = [turn_record(text, f"t{place}") for place, text in enumerate(SAID)]
    records += [
        question_record(text, f"q{place}", [f"t{place}"], answer) | {"category": "own"}
        for place, (text, answer) in enumerate(FACTS.items())
    ]
    return write_records(tmp_path / "data.jsonl", records)


def answers(chat: ChatServer, data: Path, *more: str) -> tuple[dict[str, Any], str]:
    """The figures, and the error that ended the command."""
    arguments = f"answers hotmem {data} --model bot --judge judge --url {chat.url}"
    arguments += " --jobs 1 --concurrency 1 --json"
    done = CliRunner().invoke(app, [*arguments.split(), *more])
    if done.exception is not None:
        return {}, f"{type(done.exception).__name__}: {done.exception}"
    return json.loads(done.stdout.splitlines()[-1]), ""


def test_systems_are_compared_over_the_same_questions(chat: ChatServer, data: Path) -> None:
    found, _ = answers(chat, data, "--prompt-price", "2", "--completion-price", "10")
    assert {name: one["score"]["mean"] for name, one in found["systems"].items()} == {
        "HotMem": 1.0,
        "cosine": 1.0,
        "full context": 1.0,
    }
    hotmem = found["systems"]["HotMem"]
    assert hotmem["questions"] == 3 and hotmem["unscored"] == 0
    assert hotmem["ratios"]["full context"] == {
        "score": 1.0,
        "prompt_tokens": 1.0,
        "answer_p50_ms": pytest.approx(1, abs=1000),
    }
    assert hotmem["dollars"] == pytest.approx((100 * 2 + 20 * 10) / 1e6)
    assert found["dollars"] == pytest.approx(9 * hotmem["dollars"]) and not found["judge_dollars"]
    assert len(chat.asked) == 18


def test_a_full_context_that_is_too_long_loses_its_oldest_turns(
    chat: ChatServer, data: Path
) -> None:
    found, _ = answers(chat, data, "--system", "full context", "--full-tokens", "35")
    whole = found["systems"]["full context"]
    assert whole["cut"] == 1.0 and whole["score"]["mean"] == pytest.approx(2 / 3)
    assert "Potola" not in chat.asked[0]["messages"][1]["content"].partition("Question:")[0]


def test_tokens_that_the_endpoint_does_not_state_are_counted(chat: ChatServer, data: Path) -> None:
    chat.usage = None
    found, _ = answers(chat, data, "--system", "HotMem")
    assert found["systems"]["HotMem"]["counted"] == 1.0
    assert found["systems"]["HotMem"]["prompt_tokens"] > 100


def test_a_run_goes_on_where_it_stopped(chat: ChatServer, data: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    answers(chat, data, "--rows", str(rows), "--questions", "1")
    with rows.open("a", encoding="utf-8") as file:
        file.write('{"run": "cut o')  # the process died while it wrote
    asked = len(chat.asked)
    found, _ = answers(chat, data, "--rows", str(rows))
    assert found["rows"] == 9 and len(chat.asked) - asked == 12
    answers(chat, data, "--rows", str(rows))
    assert len(chat.asked) - asked == 12
    _, error = answers(chat, data, "--rows", str(rows), "--budget", "50")
    assert "InvalidInput" in error and "another run" in error


def test_a_failed_judge_is_asked_again_and_the_model_is_not(
    chat: ChatServer, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = tmp_path / "rows.jsonl"
    monkeypatch.setattr(chat, "response", lambda: _without_verdict(chat))
    found, _ = answers(chat, data, "--rows", str(rows), "--system", "HotMem")
    assert found["systems"] == {} and found["failures"] == {"judge: not a verdict": 3}
    monkeypatch.setattr(chat, "response", lambda: respond(chat))
    asked = len(chat.asked)
    found, _ = answers(chat, data, "--rows", str(rows), "--system", "HotMem")
    assert found["systems"]["HotMem"]["score"]["mean"] == 1.0 and found["failures"] == {}
    assert [one["model"] for one in chat.asked[asked:]] == ["judge"] * 3


def _without_verdict(chat: ChatServer) -> bytes:
    if chat.asked[-1]["model"] != "judge":
        return respond(chat)
    return json.dumps({"choices": [{"message": {"content": "Yes, well done!"}}]}).encode()


@pytest.mark.parametrize(
    ("body", "failure"),
    [
        (b"<html>Bad gateway</html>", "not a chat completion"),
        (b'{"choices": [{"message": {"content": "  "}}]}', "empty answer"),
    ],
)
def test_garbage_is_no_wrong_answer(
    chat: ChatServer, data: Path, tmp_path: Path, body: bytes, failure: str
) -> None:
    rows = tmp_path / "rows.jsonl"
    chat.body = body
    _, error = answers(chat, data, "--rows", str(rows))
    assert "RunStopped" in error and failure in error
    stopped = [json.loads(line) for line in rows.read_text("utf-8").splitlines()]
    assert len(stopped) == 3 and {one["score"] for one in stopped} == {None}
    chat.body = None
    found, _ = answers(chat, data, "--rows", str(rows))
    assert {one["score"]["mean"] for one in found["systems"].values()} == {1.0}


def test_a_wrong_key_stops_the_run_at_once(chat: ChatServer, data: Path) -> None:
    chat.status = 401
    _, error = answers(chat, data)
    assert "RunStopped" in error and "status 401" in error
    assert len(chat.asked) == 1


def test_an_overloaded_endpoint_is_asked_again(
    chat: ChatServer, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat.status = 503
    pauses = threading.Event()

    async def recover(_: float) -> None:
        pauses.set()
        chat.status = 200

    monkeypatch.setattr("eval.answers.run.asyncio.sleep", recover)
    found, _ = answers(chat, data, "--system", "HotMem")
    assert pauses.is_set() and found["systems"]["HotMem"]["questions"] == 3


def test_an_endpoint_that_stalls_stops_the_run(chat: ChatServer, data: Path) -> None:
    chat.wait_s = 5
    _, error = answers(chat, data, "--timeout", "0.1")
    assert "RunStopped" in error and "timeout" in error


@pytest.mark.parametrize(("text", "count", "score"), CASES["verdicts"])
def test_verdicts(text: str, count: int, score: float | None) -> None:
    assert read_verdict(text, count) == score


def test_what_a_right_answer_says() -> None:
    question = Question("q", "Where?", START, (), "Porto", "own")
    assert points(question) == ("Porto",)
    assert points(Question("q", "Where?", START, (), "", "own")) == ()
    unknown = Question("q", "Where?", START, (), "", "own", abstain=True)
    assert points(unknown) == (UNKNOWN,)
    listed = Question("q", "Where?", START, (), "Porto", "own", rubric=("a", "b"))
    content = judge_messages(listed, "Somewhere.")[1]["content"]
    assert "1. a\n2. b" in content and content.endswith("Somewhere.")


def test_beam_lists_the_points(tmp_path: Path) -> None:
    message = {"id": 1, "role": "user", "content": "Hi.", "time_anchor": "March-15-2024"}
    chat = [{"batch_number": 1, "turns": [[message]]}]
    (tmp_path / "chat.json").write_text(json.dumps(chat), "utf-8")
    probe = {"question": "What?", "ideal_summary": "Long.", "rubric": ["This.", "That."]}
    probes = {"summarization": [probe]}
    (tmp_path / "probing_questions.json").write_text(json.dumps(probes), "utf-8")
    (one,) = LOADERS[Dataset.BEAM](tmp_path)
    assert points(one.questions[0]) == ("This.", "That.")


def test_only_questions_scored_for_every_system_are_compared() -> None:
    rows = [
        AnswerRow("run", "ana", question, "own", False, system, 10, 1.0, cut=False, score=score)
        for system, question, score in (
            ("HotMem", "a", 1.0),
            ("HotMem", "b", 1.0),
            ("cosine", "a", 0.0),
            ("cosine", "b", None),
        )
    ]
    summaries = summarize(rows, Prices())
    assert summaries["HotMem"].questions == summaries["cosine"].questions == 1
    assert (summaries["HotMem"].unscored, summaries["cosine"].unscored) == (0, 1)
    assert summaries["HotMem"].ratios["cosine"]["score"] is None
    assert summarize(rows[2:], Prices()).keys() == {"cosine"}
    assert summarize(rows[3:], Prices()) == {}


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("milk\nbread\n", "utf-8")
    with pytest.raises(InvalidInput, match="no file of answers"):
        RowFile(path, "run")
    assert path.read_text("utf-8") == "milk\nbread\n"
