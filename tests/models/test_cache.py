"""The embedding cache keeps what was used last, encodes each text once, and counts."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotmem.errors import InvalidInput
from hotmem.models import CachedEncoder, Vectors


class Letters:
    """A small encoder of its own kind: how often each of four letters occurs.

    Keeps what it was asked.
    """

    name = "letters"
    dimension = 5

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(list(texts))
        rows = np.array(
            [[text.count(letter) for letter in "abcd"] + [1] for text in texts], dtype=np.float32
        )
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def test_only_what_is_missing_is_encoded_and_only_once() -> None:
    letters = Letters()
    cached = CachedEncoder(letters, 10)
    cached.encode(["a", "b", "a"])
    cached.encode(["b", "c", "c"])
    assert letters.asked == [["a", "b"], ["c"]]
    assert (cached.hits, cached.misses) == (3, 3)


def test_the_text_used_longest_ago_goes_first() -> None:
    letters = Letters()
    cached = CachedEncoder(letters, 2)
    cached.encode(["a", "b"])
    cached.encode(["a"])
    cached.encode(["c"])
    cached.encode(["a"])
    cached.encode(["b"])
    assert letters.asked == [["a", "b"], ["c"], ["b"]]


def test_a_batch_larger_than_the_cache_is_answered_whole() -> None:
    cached = CachedEncoder(Letters(), 2)
    assert np.array_equal(
        cached.encode(["a", "b", "c", "d"]), Letters().encode(["a", "b", "c", "d"])
    )


def test_a_cache_of_size_nothing_keeps_nothing() -> None:
    cached = CachedEncoder(Letters(), 0)
    cached.encode(["a"])
    cached.encode(["a"])
    assert (cached.hits, cached.misses) == (0, 2)


def test_a_negative_size_is_refused() -> None:
    with pytest.raises(InvalidInput, match="Pass 0 for no cache"):
        CachedEncoder(Letters(), -1)


def test_changing_an_answer_leaves_the_cache_alone() -> None:
    cached = CachedEncoder(Letters(), 10)
    cached.encode(["a"])[:] = 0
    cached.encode(["a"])[:] = 0
    assert np.array_equal(cached.encode(["a"]), Letters().encode(["a"]))


def test_threads_may_share_it() -> None:
    cached = CachedEncoder(Letters(), 8)
    batches = [["a" * (index % 13), "b" * (index % 7), "cd"] for index in range(400)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(cached.encode, batches))
    assert all(
        np.array_equal(answer, Letters().encode(batch))
        for answer, batch in zip(answers, batches, strict=True)
    )
    assert cached.hits + cached.misses == 1200


@given(st.lists(st.lists(st.text("abcd", max_size=3), max_size=6), max_size=8), st.integers(0, 5))
def test_answers_are_the_encoders_own(batches: list[list[str]], size: int) -> None:
    cached = CachedEncoder(Letters(), size)
    for batch in batches:
        rows = cached.encode(batch)
        assert rows.shape == (len(batch), 5)
        if batch:
            assert np.array_equal(rows, Letters().encode(batch))
    assert cached.hits + cached.misses == sum(map(len, batches))


def test_the_last_readings_are_kept_and_long_ones_are_not(encoder: CachedEncoder) -> None:
    short, long = "a question only this test asks", "a very long turn of this test, " * 20
    before = encoder.misses
    first, _ = encoder.encode_tokens([short, long])
    again, _ = encoder.encode_tokens([short, long])
    assert encoder.misses == before + 3
    assert again is first
    assert len(first.token_states) == len(first.token_ids) == 6


def test_a_text_that_was_read_is_not_encoded(encoder: CachedEncoder) -> None:
    (reading,) = encoder.encode_tokens(["another question only this test asks"])
    before = encoder.misses
    assert np.array_equal(
        encoder.encode(["another question only this test asks"])[0], reading.vector
    )
    assert encoder.misses == before


def test_an_encoder_of_rows_alone_gives_readings_without_pieces() -> None:
    letters = Letters()
    cached = CachedEncoder(letters, 10)
    readings = cached.encode_tokens(["a", "b", "a"])
    assert letters.asked == [["a", "b"]]
    assert np.array_equal([reading.vector for reading in readings], cached.encode(["a", "b", "a"]))
    assert [len(reading.token_ids) for reading in readings] == [0, 0, 0]


def test_the_default_encoder_stands_behind_it(encoder: CachedEncoder) -> None:
    before = encoder.misses
    first = encoder.encode(["a sentence only this test says", "a sentence only this test says"])
    assert encoder.misses == before + 1
    assert np.array_equal(first[0], first[1])
