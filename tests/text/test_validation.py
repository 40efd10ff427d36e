"""Validation of texts and ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotmem.errors import InvalidInput
from hotmem.text.validation import (
    MAX_ID_CHARACTERS,
    MAX_TEXT_CHARACTERS,
    clean_text,
    validate_id,
    validate_text,
)

anything = st.text(st.characters(codec=None), max_size=300)


@given(anything)
def test_clean_text_is_storable_and_idempotent(text: str) -> None:
    cleaned = clean_text(text)
    assert cleaned.encode("utf-8") is not None and "\x00" not in cleaned
    assert clean_text(cleaned) == cleaned


@given(st.text(st.characters(categories=("L", "N", "P", "S")), max_size=100))
def test_clean_text_keeps_visible_characters(text: str) -> None:
    assert clean_text(text) == text


def test_limits_are_exact() -> None:
    assert validate_text("x" * MAX_TEXT_CHARACTERS) == "x" * MAX_TEXT_CHARACTERS
    assert validate_id("x" * MAX_ID_CHARACTERS, "id") == "x" * MAX_ID_CHARACTERS
    with pytest.raises(InvalidInput, match=f"{MAX_TEXT_CHARACTERS + 1:,}"):
        validate_text("x" * (MAX_TEXT_CHARACTERS + 1))
    with pytest.raises(InvalidInput, match=f"{MAX_ID_CHARACTERS + 1:,}"):
        validate_id("x" * (MAX_ID_CHARACTERS + 1), "id")
    with pytest.raises(InvalidInput, match="not a string"):
        validate_text(b"bytes")  # type: ignore[arg-type]


def test_error_messages_do_not_contain_the_text() -> None:
    for wrong in ("Potola" * MAX_TEXT_CHARACTERS, "\x00"):
        with pytest.raises(InvalidInput) as caught:
            validate_text(wrong)
        assert "Potola" not in str(caught.value)
