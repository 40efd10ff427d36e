"""Terms of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotmem.storage.sqlite.primitives import _token as token
from hotmem.text.stemming import MAX_WORD_CHARACTERS, terms
from hotmem.types import UserKey


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The dogs were running!", ["the", "dog", "were", "run"]),
        ("CAFÉ, naïve; Straße", ["cafe", "naiv", "strass"]),
        ("it's half_past-9", ["it", "s", "half", "past", "9"]),
        ("ｆｕｌｌ width", ["full", "width"]),
        ("Привет, мир", ["привет", "мир"]),
        ('"*^:- ()', []),
        ("x" * 500, ["x" * MAX_WORD_CHARACTERS]),
    ],
)
def test_terms(text: str, found: list[str]) -> None:
    assert terms(text) == found


@given(st.text(max_size=50))
def test_a_term_is_one_word_of_letters_and_digits(text: str) -> None:
    for term in terms(text):
        assert term and not set(term) & set(" \t\n\"'*^:-()_")
        assert terms(term.upper()) is not None


@given(
    st.integers(0, 10**12),
    st.integers(0, 10**12),
    st.text("u1x2a", min_size=1),
    st.text("u1x2a", min_size=1),
)
def test_no_two_users_share_a_token(one: int, other: int, of_one: str, of_other: str) -> None:
    assert (token(UserKey(one), of_one) == token(UserKey(other), of_other)) == (
        (one, of_one) == (other, of_other)
    )
