"""Evaluation of time expressions on cases in the form of the corpus."""

import json
from pathlib import Path

import pytest

from eval.language.recognizers import FILES, Kind, cases
from eval.language.time import evaluate_case

NOON = "2026-11-18T12:00:00"


def result(text: str, kind: str, *values: dict[str, str]) -> dict[str, object]:
    """One result in the form of the model's file."""
    return {"Text": text, "TypeName": f"datetimeV2.{kind}", "Resolution": {"values": list(values)}}


def write(folder: Path, text: str, *results: dict[str, object]) -> None:
    """The corpus with one case; all files but the last are empty."""
    for name in FILES:
        (folder / f"{name}.json").write_text("[]", encoding="utf-8")
    case = {"Input": text, "Context": {"ReferenceDateTime": NOON}, "Results": list(results)}
    (folder / f"{FILES[-1]}.json").write_text(json.dumps([case]), encoding="utf-8-sig")


MAY = result(
    "in may",
    "daterange",
    {"start": "2026-05-01", "end": "2026-06-01"},
    {"start": "2027-05-01", "end": "2027-06-01"},
)
DAYS = result("from 4 to 22 may 2025", "daterange", {"start": "2025-05-04", "end": "2025-05-22"})
AGO = result("two weeks ago", "date", {"value": "2026-11-04"})
CLOCK = result("at 6.45", "time", {"value": "06:45:00"}, {"value": "18:45:00"})
AFTER = result("after 2018", "daterange", {"start": "2019-01-01", "Mod": "after"})


@pytest.mark.parametrize(
    ("text", "wanted", "ahead", "inclusive"),
    [
        ("in May", MAY, False, False),
        ("in May", MAY, True, False),
        ("from 4 to 22 may 2025", DAYS, False, True),
        ("two weeks ago", AGO, False, False),
        ("shall we leave at 6.45", CLOCK, True, False),
        ("after 2018", AFTER, False, False),
    ],
)
def test_a_right_reading_counts(
    tmp_path: Path, text: str, wanted: dict[str, object], ahead: bool, inclusive: bool
) -> None:
    write(tmp_path, text, wanted)
    (case,) = cases(tmp_path)
    outcome = evaluate_case(case, ahead=ahead)
    assert (case.applicable, outcome.right, outcome.inclusive) == (True, True, inclusive)


def test_another_time_does_not_count(tmp_path: Path) -> None:
    write(tmp_path, "in June", MAY)
    (case,) = cases(tmp_path)
    assert not evaluate_case(case, ahead=False).right


def test_where_nothing_is_meant_nothing_may_be_found(tmp_path: Path) -> None:
    write(tmp_path, "I saw her yesterday")
    (case,) = cases(tmp_path)
    assert case.kind is Kind.NOTHING
    assert not evaluate_case(case, ahead=False).right


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("for 3 hours", result("3 hours", "duration", {"value": "10800"})),
        ("every Tuesday", result("every tuesday", "set", {"value": "not resolved"})),
        ("at Easter", result("easter", "date", {"value": "2026-04-05"})),
        ("this summer", result("this summer", "daterange", {"value": "not resolved"})),
    ],
)
def test_what_no_interval_answers_is_out_of_scope(
    tmp_path: Path, text: str, wanted: dict[str, object]
) -> None:
    write(tmp_path, text, wanted)
    (case,) = cases(tmp_path)
    assert not case.applicable
