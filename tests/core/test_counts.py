"""Counts in words."""

import pytest

from hotmem.core.validation import counted


@pytest.mark.parametrize(
    ("count", "nouns", "words"),
    [
        (1, ("turn",), "1 turn"),
        (0, ("turn",), "0 turns"),
        (1200, ("turn",), "1,200 turns"),
        (1, ("memory", "memories"), "1 memory"),
        (2, ("memory", "memories"), "2 memories"),
        (1, ("job waits", "jobs wait"), "1 job waits"),
    ],
)
def test_a_count_agrees_with_its_noun(count: int, nouns: tuple[str, ...], words: str) -> None:
    assert counted(count, *nouns) == words
