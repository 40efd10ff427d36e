"""Rows, what they add up to, and how they are shown."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.report import figures, leads, show
from eval.rows import HOTMEM, Row, group_by_system, mean, read, summarize, write

ROW = Row("talk", "q0", "own", False, HOTMEM, 1.0, 1.0, 0.5, 1.0, 100, 2.0, 3, 0.9, False)
UNANSWERABLE: dict[str, Any] = {"question": "q2", "category": "abstention", "abstain": True} | (
    dict.fromkeys(("delivered", "all", "answer", "sessions"))
)
ROWS = [
    ROW,
    replace(ROW, question="q1", delivered=0.5, all=0.0, answer=None, ms=4.0),
    replace(ROW, **UNANSWERABLE, relevance=0.1, unknown=True),
    replace(ROW, system="BM25", delivered=0.5),
    replace(ROW, system="BM25", question="q1", delivered=0.0),
    replace(ROW, system="BM25", **UNANSWERABLE),
]


def test_summary_by_arithmetic() -> None:
    total = summarize(group_by_system(ROWS)[HOTMEM])
    assert (total.questions, total.scored) == (3, 2)
    assert (total.delivered, total.all, total.answer, total.sessions) == (0.75, 0.5, 0.5, 1.0)
    assert (total.unknown, total.wrongly_unknown, total.unknown_at_5) == (1.0, 0.0, 1.0)
    assert total.p50_ms == 2.0


def test_the_mean_of_nothing_is_nothing() -> None:
    assert mean([None, None]) is None
    assert mean([None, 1.0]) == 1.0


def test_leads_pair_the_same_questions() -> None:
    (lead,) = leads(group_by_system(ROWS)).values()
    assert lead.mean == pytest.approx(0.5)


def test_rows_survive_the_file(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    write(ROWS, file)
    assert read(file) == ROWS
    assert len(file.read_text().splitlines()) == len(ROWS)
    odd = [replace(ROW, question="one\u2028two\x85three")]
    write(odd, file)
    assert read(file) == odd


def test_figures_name_systems_and_categories() -> None:
    found = figures(ROWS)
    assert list(found["systems"]) == [HOTMEM, "BM25"]
    assert found["systems"]["BM25"]["categories"]["own"]["delivered"] == 0.25
    assert found["systems"][HOTMEM]["categories"]["abstention"]["delivered"] is None


def test_the_table_shows_unscored_as_a_dash(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    show(ROWS, "tiny")
    text = capsys.readouterr().out
    assert "0.750" in text
    assert "–" in text
    assert "HotMem − BM25: +50.0 points" in text
