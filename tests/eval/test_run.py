"""Whole runs through the command line on a tiny file of our own."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from eval.__main__ import main
from eval.bench.synthetic import SESSION_TURNS, SyntheticConversations
from eval.rows import read
from tests.conversation import question_record, turn_record, write_records
from tests.tables import tables

CASES = tables(__file__)

SESSIONS = CASES["sessions"]
QUESTIONS = CASES["questions"]
ASKED_AT = datetime(2024, 5, 10, 9, tzinfo=UTC)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    lines = [
        turn_record(
            text,
            f"{session}-{place}",
            session=session,
            at=datetime.fromisoformat(f"{day}T09:00:{place:02}+00:00"),
        )
        for session, (day, texts) in SESSIONS.items()
        for place, text in enumerate(texts)
    ]
    lines += [
        question_record(text, f"q{number}", evidence, answer, at=ASKED_AT) | {"abstain": abstain}
        for number, (text, evidence, answer, abstain) in enumerate(QUESTIONS)
    ]
    return write_records(tmp_path / "own.jsonl", lines)


def evaluate(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "eval", *arguments], capture_output=True, text=True, check=False
    )


def test_a_run_from_end_to_end(own: Path, tmp_path: Path) -> None:
    rows_file = tmp_path / "rows.jsonl"
    done = evaluate("run", "hotmem", str(own), "--jobs", "1", "--rows", str(rows_file), "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["conversations"] == 1
    assert found["turns"] == 6
    assert list(found["systems"]) == ["HotMem", "BM25", "MiniLM", "BM25+MiniLM"]
    assert all(system["scored"] == 3 for system in found["systems"].values())
    assert found["systems"]["HotMem"]["delivered"] == 1.0
    rows = read(rows_file)
    assert len(rows) == 4 * len(QUESTIONS)
    assert all(0 <= row.tokens <= 1000 for row in rows)
    assert {row.delivered for row in rows if row.abstain} == {None}


def test_a_wrong_path_is_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["eval", "run", "locomo", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    told = capsys.readouterr().err
    assert "InvalidInput" in told and "Traceback" not in told


def test_invented_talk_repeats_by_seed_and_hardly_within() -> None:
    turns = list(SyntheticConversations().turns(4000))
    assert [turn.text for turn in turns] == [
        turn.text for turn in SyntheticConversations().turns(4000)
    ]
    assert len({turn.text for turn in turns}) > 3000
    assert len({turn.session_id for turn in turns}) == 4000 / SESSION_TURNS
    assert SyntheticConversations().questions(5) == SyntheticConversations().questions(5)
    assert len(set(SyntheticConversations().questions(1000))) == 1000
