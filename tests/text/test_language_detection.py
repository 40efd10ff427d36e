"""Telling English texts from others."""

from hypothesis import given
from hypothesis import strategies as st

from hotmem.text.language_detection import UNDETERMINED, detect_language, is_english
from hotmem.text.languages import ENGLISH, LANGUAGES
from tests.hostile import hostile
from tests.languages import Sample, load_samples, load_short
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)

SAMPLES = load_samples()


@scored("sample", SAMPLES, floor=1.0)
def test_a_text_of_the_expected_language(sample: Sample) -> None:
    for text in (*sample.statements, *(one.text for one in sample.questions)):
        assert detect_language(text, sample.language) == sample.language
        assert not is_english(text, "sv")


def test_english_with_foreign_names_is_english() -> None:
    for code, text in load_short():
        if code == ENGLISH:
            assert is_english(text), text


def test_short_texts_are_of_the_expected_language() -> None:
    for code, text in load_short():
        if code != ENGLISH:
            assert not is_english(text, code), text


@scored(("text", "expected", "found"), CASES["detected_languages"], floor=0.85)
def test_detected_languages(text: str, expected: str, found: str) -> None:
    assert detect_language(text, expected) == found


@given(hostile | st.text(max_size=200), st.sampled_from(LANGUAGES))
def test_any_text_has_a_language(text: str, expected: str) -> None:
    assert detect_language(text, expected) in (*LANGUAGES, "pl", UNDETERMINED)
