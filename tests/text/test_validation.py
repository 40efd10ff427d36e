"""What text and ids may hold, and how long texts are cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotmem.errors import InvalidInput
from hotmem.text.validation import (
    MAX_ID,
    MAX_TEXT,
    PASSAGE_WORDS,
    checked_id,
    checked_text,
    clean,
    passages,
)

anything = st.text(st.characters(codec=None), max_size=300)
prose = st.lists(
    st.sampled_from(["word", "dog", "Dr.", "yes.", "no!", "why?", "\n", "“so”", "e.g.", "…", "ü"]),
    max_size=400,
).map(" ".join)


@given(anything)
def test_clean_text_can_be_stored_and_stays_clean(text: str) -> None:
    cleaned = clean(text)
    assert cleaned.encode("utf-8") is not None and "\x00" not in cleaned
    assert clean(cleaned) == cleaned


@given(st.text(st.characters(categories=("L", "N", "P", "S")), max_size=100))
def test_visible_characters_stay(text: str) -> None:
    assert clean(text) == text


@given(prose | anything)
def test_passages_cover_every_visible_character_once_and_in_order(text: str) -> None:
    cleaned = clean(text)
    spans = passages(cleaned)
    assert all(start < stop for start, stop in spans)
    assert all(stop <= following for (_, stop), (following, _) in pairwise(spans))
    kept = "".join(cleaned[start:stop] for start, stop in spans)
    assert "".join(kept.split()) == "".join(cleaned.split())
    assert all(cleaned[start:stop] == cleaned[start:stop].strip() for start, stop in spans)


@given(prose, st.integers(5, 60))
def test_no_passage_is_much_longer_than_asked(text: str, words: int) -> None:
    for start, stop in passages(clean(text), words):
        assert len(clean(text)[start:stop].split()) <= 2 * words


def test_a_spoken_turn_is_one_passage_and_a_lecture_is_many() -> None:
    assert passages("My dog is called Potola. She is two.") == [(0, 36)]
    lecture = " ".join(
        f"This is sentence number {number} of a long lecture." for number in range(50)
    )
    spans = passages(lecture)
    assert 50 * 9 / PASSAGE_WORDS / 2 < len(spans) < 50 * 9 / PASSAGE_WORDS * 2
    assert all(lecture[stop - 1] == "." for _, stop in spans)


def test_limits_hold_exactly() -> None:
    assert checked_text("x" * MAX_TEXT) == "x" * MAX_TEXT
    assert checked_id("x" * MAX_ID, "id") == "x" * MAX_ID
    with pytest.raises(InvalidInput, match=f"{MAX_TEXT + 1:,}"):
        checked_text("x" * (MAX_TEXT + 1))
    with pytest.raises(InvalidInput, match=f"{MAX_ID + 1:,}"):
        checked_id("x" * (MAX_ID + 1), "id")
    with pytest.raises(InvalidInput, match="not a string"):
        checked_text(b"bytes")  # type: ignore[arg-type]


def test_no_message_holds_what_was_said() -> None:
    for wrong in ("Potola" * MAX_TEXT, "\x00"):
        with pytest.raises(InvalidInput) as caught:
            checked_text(wrong)
        assert "Potola" not in str(caught.value)
