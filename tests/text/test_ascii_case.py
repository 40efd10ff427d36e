"""Case folding of ASCII letters."""

from hotmem.text.validation import ascii_lower


def test_only_ascii_letters_are_folded() -> None:
    assert ascii_lower("Ana's Straße, ÅNGSTRÖM İ 42") == "ana's straße, ÅngstrÖm İ 42"
