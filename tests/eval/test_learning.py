"""Learning replayed on a tiny file of our own.

What is learnt from, what is measured on, and what is told of it.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import pytest_asyncio
import typer

from eval.datasets.selection import load_datasets
from eval.learning import replay
from eval.learning.command import learn
from eval.learning.curves import Curve, figures
from eval.learning.replay import (
    BEGINNINGS,
    PLANS,
    SHIPPED_ONES,
    Learner,
    Plan,
    Point,
    Replay,
    spoken,
)
from eval.retrieval import RetrievedQuestion, request
from eval.run import held_out, ingested, models
from eval.statistics import Estimate
from hotmem.core.timing import StageTimer
from hotmem.feedback.learning import ROLLBACK_LEAD
from hotmem.models import CachedEncoder
from hotmem.recall import retrieve
from hotmem.types import MAX_WEIGHT, MIN_WEIGHT, START_WEIGHTS, Intent, Layer
from tests.eval import inline
from tests.eval.test_calibration import PEOPLE, written
from tests.feedback.test_weights import SEMANTIC_USED

INVERTED = Plan("inverted", 0.0)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def asked(tmp_path_factory: pytest.TempPathFactory) -> list[RetrievedQuestion]:
    folder = tmp_path_factory.mktemp("replayed")
    found = []
    for number, conversation in enumerate(
        load_datasets([f"hotmem={written(folder / 'own.jsonl', PEOPLE)}"], step=1)["hotmem"]
    ):
        async with ingested(conversation, models(folder)) as memory:
            for question in conversation.questions:
                answer = await retrieve(
                    memory.runtime.recall, request(conversation, question), StageTimer()
                )
                found.append(RetrievedQuestion(conversation, question, held_out(number), answer))
    return found


@pytest.fixture
def tiny(asked: Sequence[RetrievedQuestion], encoder: CachedEncoder) -> Replay:
    return Replay(asked, encoder, turns=200, measured=400)


def test_where_replays_begin() -> None:
    assert BEGINNINGS[SHIPPED_ONES] == START_WEIGHTS
    assert {plan.beginning for plan in PLANS} == set(BEGINNINGS) and len(set(PLANS)) == len(PLANS)


def test_a_replay_is_the_same_again(tiny: Replay) -> None:
    first = tiny.replayed(INVERTED)
    assert first == tiny.replayed(INVERTED)
    assert [point.turns for point in first.points] == [0, 1, 2, 4], (
        "two questions of each of two conversations can be learnt from"
    )
    assert (first.points[0].delivered, first.points[-1].delivered) == (
        fmean(first.begun),
        fmean(first.ended),
    )
    assert len(first.begun) == len(first.ended) == 4
    assert first.points[0].weights == BEGINNINGS["inverted"] != first.points[-1].weights
    assert all(
        MIN_WEIGHT <= point.weights[layer] <= MAX_WEIGHT
        for point in first.points
        for layer in Layer
    )


def test_what_is_measured_on_is_not_learnt_from(
    asked: Sequence[RetrievedQuestion], encoder: CachedEncoder, tiny: Replay
) -> None:
    fewer = Replay(
        [one for one in asked if not one.held_out] + [one for one in asked if one.held_out][:1],
        encoder,
        200,
        400,
    )
    assert [point.weights for point in fewer.replayed(INVERTED).points] == [
        point.weights for point in tiny.replayed(INVERTED).points
    ]


def test_some_replies_make_nothing_of_the_block(
    tiny: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "NOTHING_SAID", 1.0)
    said = list(tiny._said(0.3))
    assert len(said) == 4 and {one.knowing for one in said} == {one.unknowing for one in said} == {
        "Okay. Is there anything else?"
    }


def test_the_bot_answers_with_what_it_was_given(
    tiny: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "NOTHING_SAID", 0.0)
    for said in tiny._said(0.0):
        assert said.ready.asked.question.answer in said.knowing and "don't know" in said.unknowing
    for said in tiny._said(1.0):
        assert said.ready.asked.question.answer not in said.knowing == said.unknowing


def test_a_step_back_forgets_what_intents_taught() -> None:
    learner = Learner.at(START_WEIGHTS)
    learner.told(Intent.FACT, SEMANTIC_USED, tuple(Layer))
    assert learner.intents and learner.weights(Intent.FACT) != START_WEIGHTS
    learner.state = replace(learner.state, lead=10 * ROLLBACK_LEAD)
    learner.told(Intent.FACT, SEMANTIC_USED, tuple(Layer))
    assert learner.intents == {} and learner.weights(Intent.FACT).as_dict() == pytest.approx(
        START_WEIGHTS.as_dict()
    )


def test_an_outcome_is_told() -> None:
    points = (
        Point(0, 0.5, START_WEIGHTS),
        Point(4, 0.3, START_WEIGHTS),
        Point(8, 0.6, START_WEIGHTS),
    )
    gain = Estimate(0.1, 0.0, 0.2)
    own = [Curve("own", plan, points, gain, gain) for plan in PLANS]
    assert own[0].lowest == pytest.approx(-0.2)
    assert json.loads(json.dumps(figures(own)))["curves"][0]["lowest"] == pytest.approx(-0.2)


def test_learning_from_end_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    inline.install(monkeypatch)
    own = written(tmp_path / "own.jsonl", {name: PEOPLE[name] for name in ("ana", "ben")})
    learn(
        [f"hotmem={own}"],
        turns=8,
        questions=2,
        step=1,
        jobs=1,
        cache=None,
        as_json=True,
    )
    told: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [(one["plan"]["beginning"], one["plan"]["noise"]) for one in told["curves"]] == [
        (plan.beginning, plan.noise) for plan in PLANS
    ]


def test_nothing_held_out_is_said_at_once(tmp_path: Path) -> None:
    own = written(tmp_path / "own.jsonl", {"ana": PEOPLE["ana"]})
    with pytest.raises(typer.BadParameter, match="every second conversation"):
        learn([f"hotmem={own}"], jobs=1)


def test_data_without_answers_are_refused(tmp_path: Path) -> None:
    own = written(tmp_path / "own.jsonl", {name: PEOPLE[name] for name in ("ana", "ben")})
    lines = [json.loads(line) for line in own.read_text().splitlines()]
    own.write_text("\n".join(json.dumps({**line, "answer": ""}) for line in lines))
    with pytest.raises(typer.BadParameter, match="no written answers"):
        learn([f"hotmem={own}"], jobs=1)


def test_an_answer_that_is_a_sentence_is_said_as_it_is() -> None:
    assert spoken("At the dentist's.") == "At the dentist's."
    assert spoken("12 May") == "It was 12 May."
