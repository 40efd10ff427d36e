"""Keys of tags: spellings, plurals and abbreviations of one tag have the same key."""

import pytest

from hotmem.text.tag_words import COMPOUNDS, IRREGULAR, head, long_form, tag_key
from tests.tables import tables

CASES = tables(__file__)


@pytest.mark.parametrize("tags", CASES["one_tag_has_one_key"])
def test_one_tag_has_one_key(tags: tuple[str, ...]) -> None:
    assert len({tag_key(tag) for tag in tags}) == 1


@pytest.mark.parametrize(("one", "other"), CASES["different_tags_have_different_keys"])
def test_different_tags_have_different_keys(one: str, other: str) -> None:
    assert tag_key(one) != tag_key(other)


@pytest.mark.parametrize("tag", ["of", "the", "for the", "—", "😀"])
def test_every_tag_has_a_key(tag: str) -> None:
    assert tag_key(tag)


def test_the_last_word_is_the_head_unless_the_words_belong_together() -> None:
    assert (head("garden shed"), head("shed"), head("vanilla ice cream")) == ("shed", None, None)


def test_abbreviations_have_a_long_form() -> None:
    assert (long_form("k8s"), long_form("kayak")) == ("kubernetes", "kayak")


def test_the_tables_are_in_one_form() -> None:
    assert all(pair == pair.lower() and pair.count("-") == 1 for pair in COMPOUNDS)
    assert all(IRREGULAR.get(to, to) == to for to in IRREGULAR.values())
