"""The contract of every encoder, and how close the int8 one comes to the float one."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.encoder.export import published_encoder
from eval.encoder.published import published_folder
from hotmem.errors import ModelMissing
from hotmem.models import TokenEncoder, encode_tokens, load_encoder
from hotmem.models.encoder import unit_rows
from hotmem.models.encoders import (
    MAX_TOKENS,
    TURNS,
    OnnxEncoder,
    SentenceTransformerEncoder,
)
from hotmem.options import ModelOptions
from tests.letters import LetterEncoder
from tests.tables import tables

CASES = tables(__file__)

SENTENCES = CASES["sentences"]


WIDTH = {TURNS: 128}
"""Dimensions of the codes of an encoder whose codes are not its states."""


@pytest.fixture(scope="module")
def exact() -> SentenceTransformerEncoder:
    return SentenceTransformerEncoder(str(published_folder()))


@pytest.fixture(scope="module")
def quantised() -> OnnxEncoder:
    return published_encoder()


@pytest.fixture(scope="module")
def trained() -> OnnxEncoder:
    return OnnxEncoder.load()


TORCH = pytest.mark.part("torch")


@pytest.fixture(params=[pytest.param("exact", marks=TORCH), "quantised", "trained"])
def each(request: pytest.FixtureRequest) -> TokenEncoder:
    chosen: TokenEncoder = request.getfixturevalue(request.param)
    return chosen


def test_rows_are_float32_and_of_length_one(each: TokenEncoder) -> None:
    rows = each.encode(SENTENCES)
    assert rows.dtype == np.float32
    assert rows.shape == (len(SENTENCES), each.dimension)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_no_texts_give_no_rows(each: TokenEncoder) -> None:
    rows = each.encode([])
    assert rows.shape == (0, each.dimension)
    assert rows.dtype == np.float32


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\n",
        "🐕",
        "x" * 100_000,
        "word " * 20_000,
        "它叫什么名字",
        "a\x00b",
        "[CLS] [SEP] [PAD]",
    ],
)
def test_any_text_has_a_direction(each: TokenEncoder, text: str) -> None:
    assert np.isclose(np.linalg.norm(each.encode([text])), 1, atol=1e-5)


def test_meaning_shows_in_the_dot_product(each: TokenEncoder) -> None:
    question, answer, other = each.encode(
        ["What's my dog's name?", "My dog is called Potola.", "The train leaves at noon."]
    )
    assert question @ answer > question @ other + 0.3


def test_threads_may_encode_at_once(each: TokenEncoder) -> None:
    together = each.encode(SENTENCES)
    with ThreadPoolExecutor(4) as pool:
        single = np.concatenate(list(pool.map(lambda text: each.encode([text]), SENTENCES * 4)))
    assert np.allclose(single, np.tile(together, (4, 1)), atol=1e-5)


def test_a_batch_is_its_texts_one_by_one(each: TokenEncoder) -> None:
    single = np.concatenate([each.encode([text]) for text in SENTENCES])
    assert np.allclose(single, each.encode(SENTENCES), atol=1e-5)


def test_a_reading_has_the_row_and_a_state_for_each_word_piece(each: TokenEncoder) -> None:
    readings = each.encode_tokens(SENTENCES)
    assert np.allclose([reading.vector for reading in readings], each.encode(SENTENCES), atol=1e-5)
    for reading in readings:
        assert reading.vector.dtype == reading.token_states.dtype == np.float32
        assert reading.token_states.shape == (
            len(reading.token_ids),
            WIDTH.get(each.name, each.dimension),
        )
        assert reading.token_ids.dtype == np.int64


def test_the_special_pieces_are_left_out(each: TokenEncoder) -> None:
    hello, nothing, unknown = each.encode_tokens(["hello hello world", "", "🫨"])
    assert len(hello.token_ids) == 3
    assert hello.token_ids[0] == hello.token_ids[1] != hello.token_ids[2]
    assert nothing.token_states.shape == (0, WIDTH.get(each.name, each.dimension))
    assert len(unknown.token_ids) == 1
    assert each.encode_tokens([]) == []


def test_a_reading_of_many_words_keeps_to_the_window(each: TokenEncoder) -> None:
    assert [len(reading.token_ids) for reading in each.encode_tokens(["word " * 300])] == [
        MAX_TOKENS - 2
    ]


@TORCH
def test_both_encoders_read_the_same_pieces(
    exact: SentenceTransformerEncoder, quantised: OnnxEncoder
) -> None:
    for one, other in zip(
        exact.encode_tokens(SENTENCES), quantised.encode_tokens(SENTENCES), strict=True
    ):
        assert np.array_equal(one.token_ids, other.token_ids)
        assert (
            np.mean(np.sum(unit_rows(one.token_states) * unit_rows(other.token_states), axis=1))
            >= 0.97
        )


def test_an_encoder_of_rows_alone_reads_no_pieces() -> None:
    (reading,) = encode_tokens(LetterEncoder(), ["hello"])
    assert np.array_equal(reading.vector, LetterEncoder().encode(["hello"])[0])
    assert len(reading.token_ids) == len(reading.token_states) == 0


@TORCH
def test_int8_stays_within_a_hundredth_of_float(
    exact: SentenceTransformerEncoder, quantised: OnnxEncoder
) -> None:
    cosines = np.sum(exact.encode(SENTENCES) * quantised.encode(SENTENCES), axis=1)
    assert cosines.mean() >= 0.993
    assert cosines.min() >= 0.985


def test_the_trained_encoder_is_the_default_and_keeps_a_third_of_the_bytes(
    trained: OnnxEncoder, quantised: OnnxEncoder
) -> None:
    assert trained.name == TURNS != quantised.name
    one, other = trained.encode_tokens(SENTENCES), quantised.encode_tokens(SENTENCES)
    assert sum(reading.token_signs.nbytes for reading in one) * 3 == sum(
        reading.token_signs.nbytes for reading in other
    )
    assert all(
        np.array_equal(here.token_ids, there.token_ids)
        for here, there in zip(one, other, strict=True)
    )


def test_what_lies_beyond_the_window_is_ignored(quantised: OnnxEncoder) -> None:
    long = "the cat sat on the mat " * 60
    rows = quantised.encode([long, long + "my dog is called Potola"])
    assert np.array_equal(rows[0], rows[1])


@given(st.lists(st.text(max_size=60), max_size=8))
@settings(max_examples=30)
def test_any_texts_give_unit_rows(quantised: OnnxEncoder, texts: list[str]) -> None:
    rows = quantised.encode(texts)
    assert rows.shape == (len(texts), quantised.dimension)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)


@TORCH
def test_the_two_encoders_never_share_vectors(
    exact: SentenceTransformerEncoder, quantised: OnnxEncoder
) -> None:
    assert exact.name != quantised.name
    assert exact.dimension == quantised.dimension == 384


@TORCH
def test_a_model_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="Check its name or folder"):
        load_encoder(ModelOptions(encoder=str(tmp_path / "nothing")))


@TORCH
def test_a_folder_is_loaded_as_a_model(exact: SentenceTransformerEncoder) -> None:
    encoder = load_encoder(ModelOptions(encoder=str(published_folder())))
    assert np.allclose(encoder.encode(SENTENCES[:2]), exact.encode(SENTENCES[:2]), atol=1e-5)
