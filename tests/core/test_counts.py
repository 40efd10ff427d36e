"""Counts in words."""

import pytest

from hotmem.core.validation import counted
from tests.tables import tables

CASES = tables(__file__)


@pytest.mark.parametrize(("count", "nouns", "words"), CASES["a_count_agrees_with_its_noun"])
def test_a_count_agrees_with_its_noun(count: int, nouns: tuple[str, ...], words: str) -> None:
    assert counted(count, *nouns) == words
