"""Requests to forget a statement that they describe, and utterances that only sound so."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hotmem.understanding.query.command_rules import (
    DescribedDeletion,
    find_described_deletion,
)
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)


@scored(("said", "found"), CASES["a_described_statement_is_found"], floor=0.85)
def test_a_described_statement_is_found(said: str, found: dict[str, Any]) -> None:
    assert find_described_deletion(said) == DescribedDeletion(**found)


@scored("said", CASES["other_utterances_describe_nothing_to_forget"], floor=1.0)
def test_other_utterances_describe_nothing_to_forget(said: str) -> None:
    assert find_described_deletion(said) is None


@given(st.text(max_size=200))
def test_any_text_is_accepted(said: str) -> None:
    found = find_described_deletion(said)
    assert found is None or found.about
