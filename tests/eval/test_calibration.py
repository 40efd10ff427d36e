"""Retrieved candidates and the calibration of their relevance, on a tiny file of our own."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eval.calibration import ALL, measure
from eval.datasets.selection import load_datasets
from eval.retrieval import RetrievedQuestion, retrieved
from eval.run import held_out
from eval.statistics import calibration_error, reliability
from hotmem.errors import InvalidInput
from hotmem.types import Layer
from tests.conversation import question_record, turn_record, write_records
from tests.eval import inline

PEOPLE = {
    "ana": ("Potola", "cello"),
    "ben": ("Rufus", "drums"),
    "cleo": ("Moritz", "oboe"),
    "dan": ("Bella", "harp"),
}


def question(
    user: str, number: int, text: str, evidence: list[str], answer: str = ""
) -> dict[str, Any]:
    day = datetime(2024, 5, 10, 9, tzinfo=UTC)
    return question_record(text, f"{user}-q{number}", evidence, answer, user=user, at=day)


def written(file: Path, people: Mapping[str, tuple[str, str]]) -> Path:
    lines: list[dict[str, Any]] = []
    for user, (dog, instrument) in people.items():
        said = [
            f"My dog is called {dog}.",
            "It rained all day.",
            f"My sister plays the {instrument}.",
            "I painted the hallway green.",
        ]
        for place, text in enumerate(said):
            session, day = ("mon", 6) if place < 2 else ("thu", 9)
            at = datetime(2024, 5, day, 9, 0, place, tzinfo=UTC)
            of: dict[str, Any] = {
                "user": user,
                "session": session,
                "speaker": user.title(),
                "at": at,
            }
            lines.append(turn_record(text, f"{user}-{place}", **of))
        lines += [
            question(user, 0, "What is my dog called?", [f"{user}-0"], dog),
            question(user, 1, "What does my sister play?", [f"{user}-2"], f"The {instrument}"),
            question(user, 2, "Which car did I buy?", []),
        ]
    return write_records(file, lines)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("own") / "own.jsonl", PEOPLE)


@pytest.fixture(scope="module")
def asked(
    own: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[RetrievedQuestion]]:
    conversations = load_datasets([f"hotmem={own}"], step=1)["hotmem"]
    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        inline.install(patch)
        return {"own": retrieved(conversations, 1, cache, "own")}


def test_what_was_retrieved(asked: dict[str, list[RetrievedQuestion]]) -> None:
    assert [one.held_out for one in asked["own"]] == [False] * 3 + [True] * 3 + [False] * 3 + [
        True
    ] * 3
    for one in asked["own"]:
        assert {report.layer for report in one.found.reports} == set(Layer)


def test_statements_are_held_once(asked: dict[str, list[RetrievedQuestion]]) -> None:
    first, second = (asked["own"][place].found.candidates for place in (0, 1))
    shared = {id(one.evidence) for one in first} & {id(one.evidence) for one in second}
    assert shared


def test_calibration(asked: dict[str, list[RetrievedQuestion]]) -> None:
    found = measure(asked)
    assert found["own"] == found[ALL]
    assert 0 <= found[ALL].error <= 1
    assert sum(one.count for one in found[ALL].bins) == found[ALL].items


@pytest.mark.parametrize("entry", ["locomo", "nosuch=file.json", "=file.json"])
def test_data_of_another_form(entry: str) -> None:
    with pytest.raises(InvalidInput, match="DATASET=PATH"):
        load_datasets([entry], step=1)


def test_steps_and_limits_of_data(own: Path) -> None:
    assert [one.user for one in load_datasets([f"hotmem={own}"], step=2, limit=3)["hotmem"]] == [
        "ana",
        "ben",
        "cleo",
    ]


def test_every_second_conversation_is_held_out() -> None:
    assert [held_out(number) for number in range(4)] == [False, True, False, True]


def test_bins_and_their_error() -> None:
    said, true = (
        np.array([0.01, 0.02, 0.52, 0.53, 1.0], dtype=np.float32),
        np.array([False, False, True, False, True]),
    )
    bins = reliability(said, true)
    assert [(one.count, one.true) for one in bins] == [(2, 0.0), (2, 0.5), (1, 1.0)]
    assert [one.said for one in bins] == pytest.approx([0.015, 0.525, 1.0])
    assert calibration_error(said, true) == pytest.approx((2 * 0.015 + 2 * 0.025) / 5)
