"""The encoder by itself: a talk is read, ranked and fitted on."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from eval.datasets import Conversation, talks
from eval.encoder.command import _readers
from eval.encoder.export import exported, published_encoder
from eval.encoder.material import Material, materials
from eval.encoder.model import Padded, TurnEncoder, principal
from eval.encoder.ranking import by_pieces, by_row, ranked
from eval.encoder.training import Settings, trained
from hotmem.models import CachedEncoder
from hotmem.models.encoder import EncodedText, TokenEncoder, unit_rows
from hotmem.models.encoders import OnnxEncoder, word_embeddings
from hotmem.ranking.features import max_similarities, token_weights
from tests.eval.test_talks import TALK

TEXT = "I start work at the bakery at six."


def read_in_torch(encoder: TurnEncoder, text: str) -> EncodedText:
    """A text as the encoder in training reads it, in floats."""
    with torch.no_grad():
        entered = Padded.of(encoder.entered([text]))
        states = encoder.states(entered)
        codes = (states @ encoder.projection)[0, 1:-1].numpy()
        return EncodedText(
            encoder.rows(states, entered.there)[0].numpy(),
            np.zeros(len(codes), dtype=np.int64),
            codes,
        )


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Conversation]]:
    file = tmp_path_factory.mktemp("talks") / "some.txt"
    file.write_text(TALK)
    return {"talks": list(talks.load(file))}


def read_by(
    encoder: TokenEncoder, talk: dict[str, list[Conversation]], folder: Path | None = None
) -> Material:
    (found,) = materials(talk, encoder.encode_tokens, encoder.name, folder)
    return found


def test_a_talk_is_read_passage_by_passage_with_what_answers(
    encoder: CachedEncoder, talk: dict[str, list[Conversation]]
) -> None:
    material = read_by(encoder, talk)
    assert material.turns.tolist() == [0, 1, 2]
    assert material.evidence == ((2,), (0, 2), (2,))
    assert len(material.passages.states) == material.passages.starts[-1]
    assert material.passages.rows.shape == (3, 384)


def test_what_was_read_is_kept(
    encoder: CachedEncoder, talk: dict[str, list[Conversation]], tmp_path: Path
) -> None:
    first = read_by(encoder, talk, tmp_path / "deep" / "cache")

    def refusing(texts: Sequence[str]) -> list[EncodedText]:
        raise AssertionError(texts)

    (again,) = materials(talk, refusing, encoder.name, tmp_path / "deep" / "cache")
    assert np.array_equal(first.passages.states, again.passages.states) and np.array_equal(
        first.questions.rows, again.questions.rows
    )


def test_the_turn_that_answers_is_ranked_first_by_rows_and_by_pieces(
    encoder: CachedEncoder, talk: dict[str, list[Conversation]]
) -> None:
    for ranker in (by_row, by_pieces):
        first, *_ = ranked([read_by(encoder, talk)], ranker)
        assert (first.first, first.top, first.among) == (1.0, 1.0, 1.0)


def test_the_encoders_own_score_is_that_of_recall(
    encoder: CachedEncoder, talk: dict[str, list[Conversation]]
) -> None:
    material = read_by(encoder, talk)
    told = [np.packbits(material.passages.of(at) > 0, axis=1) for at in range(3)]
    matches = max_similarities(material.questions.of(0), told)
    assert np.allclose(by_pieces(material)[0], matches @ token_weights(matches), atol=1e-3)


@pytest.mark.parametrize("layers", [0, 1])
def test_training_puts_the_evidence_higher_is_repeatable_and_is_kept(
    layers: int, talk: dict[str, list[Conversation]], tmp_path: Path
) -> None:
    settings = Settings(
        layers=layers, rank=4, dimensions=16, layer_rate=4e-3, projection_rate=2.5e-3, rows=0.5
    )
    losses: list[float] = []
    found = trained(talk, settings, lambda _, __, loss: losses.append(loss))
    assert losses[-1] < losses[0]
    again = trained(talk, settings, lambda *_: None)
    assert torch.equal(found.projection, again.projection), "the same seed gives the same encoder"
    found.save(tmp_path / "one.npz")
    kept, read = (
        OnnxEncoder(exported(tmp_path / "one.npz"), "one", word_embeddings()).encode_tokens([TEXT])[
            0
        ],
        read_in_torch(found, TEXT),
    )
    assert float(kept.vector @ read.vector) > 0.98
    assert kept.token_states.shape == read.token_states.shape == (9, 16)
    assert (
        np.mean(np.sum(unit_rows(kept.token_states) * unit_rows(read.token_states), axis=1)) > 0.95
    )


def test_the_untrained_model_reads_as_the_published_one() -> None:
    plain = read_in_torch(TurnEncoder(0, 1, torch.eye(384)), TEXT)
    published = published_encoder().encode_tokens([TEXT])[0]
    assert float(plain.vector @ published.vector) > 0.98
    assert plain.token_states.shape == published.token_states.shape
    assert (
        np.mean(np.sum(unit_rows(plain.token_states) * unit_rows(published.token_states), axis=1))
        > 0.95
    )


def test_principal_directions_stand_at_right_angles() -> None:
    found = principal(
        np.random.default_rng(1).normal(size=(2000, 384)).astype(np.float32), 16, 7
    ).numpy()
    assert found.shape == (384, 16) and np.allclose(found.T @ found, np.eye(16), atol=1e-4)


@pytest.mark.parametrize("epochs", [0.0, 1.0, 9.0])
def test_training_may_be_of_any_length(epochs: float, talk: dict[str, list[Conversation]]) -> None:
    steps: list[int] = []
    found = trained(
        talk, Settings(dimensions=8, epochs=epochs), lambda _, whole, __: steps.append(whole)
    )
    assert found.projection.shape == (384, 8) and len(steps) == epochs


def test_an_encoder_that_was_trained_again_under_its_name_is_read_anew(tmp_path: Path) -> None:
    file = tmp_path / "one.npz"
    TurnEncoder(0, 1, torch.eye(384)[:, :8]).save(file)
    before = set(_readers([file]))
    TurnEncoder(0, 1, torch.eye(384)[:, 8:16]).save(file)
    assert before != set(_readers([file]))
