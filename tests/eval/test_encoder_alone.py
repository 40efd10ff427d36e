"""The encoder by itself: a talk is read, ranked and fitted on."""

from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from eval.datasets import talks
from eval.encoder.material import Material, materials
from eval.encoder.ranking import by_pieces, by_row, ranked
from tests.eval.test_talks import TALK

QUIET = Console(quiet=True)


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    folder = tmp_path_factory.mktemp("talks")
    (folder / "some.txt").write_text(TALK)
    found = [list(materials({"talks": list(talks.load(folder))}, folder / "cache", 1, QUIET)) for _ in range(2)]
    (first,), (again,) = found
    assert np.array_equal(first.passages.states, again.passages.states), "what was read is kept"
    return first


def test_a_talk_is_read_passage_by_passage_with_what_answers(material: Material) -> None:
    assert material.turns.tolist() == [0, 1, 2]
    assert material.evidence == ((2,), (0, 2), (2,))
    assert len(material.passages.states) == material.passages.starts[-1]
    assert material.passages.rows.shape == (3, 384)


def test_the_turn_that_answers_is_ranked_first_by_rows_and_by_signs(material: Material) -> None:
    for ranker in (by_row, by_pieces(None), by_pieces(np.eye(384, dtype=np.float32))):
        first, *_ = ranked([material], ranker)
        assert (first.first, first.top, first.among) == (1.0, 1.0, 1.0)


def test_a_projection_is_fitted_and_puts_the_evidence_higher_than_where_it_began(material: Material) -> None:
    training = pytest.importorskip("eval.encoder.training")
    settings = training.Settings(dimensions=16, epochs=20.0)
    losses: list[float] = []
    found = training.fitted([material], settings, lambda _, __, loss: losses.append(loss))
    assert found.shape == (384, 16) and losses[-1] < losses[0]
    assert np.array_equal(found, training.fitted([material], settings, lambda *_: None)), "the same seed gives the same projection"


def test_the_cache_is_made_where_it_is_missing(tmp_path: Path) -> None:
    (tmp_path / "some.txt").write_text(TALK)
    folder = tmp_path / "deep" / "cache"
    assert len(list(materials({"talks": list(talks.load(tmp_path))}, folder, 1, QUIET))) == 1
    assert len(list(folder.glob("*.npz"))) == 2
