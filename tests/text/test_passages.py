"""Splitting of texts into passages."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hotmem.text.passages import PASSAGE_WORDS, split_passages
from hotmem.text.validation import clean_text

anything = st.text(st.characters(codec=None), max_size=300)
prose = st.lists(
    st.sampled_from(["word", "dog", "Dr.", "yes.", "no!", "why?", "\n", "“so”", "e.g.", "…", "ü"]),
    max_size=400,
).map(" ".join)


@given(prose | anything)
def test_passages_cover_every_visible_character_once_in_order(text: str) -> None:
    cleaned = clean_text(text)
    spans = split_passages(cleaned)
    assert all(start < stop for start, stop in spans)
    assert all(stop <= following for (_, stop), (following, _) in pairwise(spans))
    kept = "".join(cleaned[start:stop] for start, stop in spans)
    assert "".join(kept.split()) == "".join(cleaned.split())
    assert all(cleaned[start:stop] == cleaned[start:stop].strip() for start, stop in spans)


@given(prose, st.integers(5, 60))
def test_passages_are_at_most_twice_the_target_length(text: str, words: int) -> None:
    for start, stop in split_passages(clean_text(text), words):
        assert len(clean_text(text)[start:stop].split()) <= 2 * words


def test_a_short_turn_is_one_passage_and_a_lecture_many() -> None:
    assert split_passages("My dog is called Potola. She is two.") == [(0, 36)]
    lecture = " ".join(
        f"This is sentence number {number} of a long lecture." for number in range(50)
    )
    spans = split_passages(lecture)
    assert 50 * 9 / PASSAGE_WORDS / 2 < len(spans) < 50 * 9 / PASSAGE_WORDS * 2
    assert all(lecture[stop - 1] == "." for _, stop in spans)
