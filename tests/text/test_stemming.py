"""Terms of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotmem.errors import InvalidInput
from hotmem.storage.sqlite.primitives import _token as token
from hotmem.text.languages import LANGUAGES, STEMMERS, checked_language
from hotmem.text.stemming import MAX_WORD_CHARACTERS, terms
from hotmem.types import UserKey
from tests.scored import scored


@scored(
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
    floor=0.85,
)
def test_terms(text: str, found: list[str]) -> None:
    assert terms(text) == found


@scored(
    ("language", "text", "found"),
    [
        ("de", "Häuser und Straßen", ["haus", "und", "strass"]),
        ("es", "las canciones; una canción", ["las", "cancion", "una", "cancion"]),
        ("fr", "l'école, des écoles", ["l", "ecol", "de", "ecol"]),
        ("ru", "книги и книгу", ["книг", "и", "книг"]),
        ("hi", "किताबें", terms("किताब", "hi")),
        ("ja", "犬の名前はポチ、ｉＰｈｏｎｅ", ["犬", "の", "名前", "は", "ポチ", "iphone"]),
        ("ja", "がくせい", ["がく", "くせ", "せい"]),
        ("zh", "红烧肉abc", ["红烧", "烧肉", "abc"]),
        ("ko", "회사에서 일해요", ["회사", "사에", "에서", "일해", "해요"]),
        ("th", "แมวดำ", ["แม", "มว", "วด", "ดํ", "ํา"]),
    ],
    floor=0.85,
)
def test_terms_of_other_languages(language: str, text: str, found: list[str]) -> None:
    assert terms(text, language) == found


def test_text_without_spaces_is_cut_in_every_language() -> None:
    for language in LANGUAGES:
        assert terms("红烧肉", language) == ["红烧", "烧肉"]


def test_every_supported_language_has_its_stemmer() -> None:
    for language in STEMMERS:
        assert terms("A 1 b", language)
    with pytest.raises(InvalidInput, match=r"'xx', which is not supported.* de, .* zh\."):
        checked_language("xx")


@given(st.text(max_size=50), st.sampled_from(LANGUAGES))
def test_a_term_is_one_word_of_letters_and_digits(text: str, language: str) -> None:
    for term in terms(text, language):
        assert term and not set(term) & set(" \t\n\"'*^:-()_")
        assert terms(term.upper(), language) is not None


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
