"""What a search asks for by kind, tag and time, and which searches ask by words alone."""

import re
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hotmem.types import Interval
from hotmem.understanding.query.requested import Requested, requested_memories
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)

AT = datetime(2026, 7, 1, 8, 20, tzinfo=UTC)
"""A Wednesday."""


@scored(("query", "expected"), CASES["a_search_for_a_kind_a_tag_or_a_time"])
def test_a_search_for_a_kind_a_tag_or_a_time(query: str, expected: dict[str, Any]) -> None:
    if "time" in expected:
        expected = expected | {"time": Interval(*map(datetime.fromisoformat, expected["time"]))}
    assert requested_memories(query, AT) == Requested(**expected)


@scored("query", [*CASES["a_search_by_words_alone"], "show me all my notes " * 8])
def test_a_search_by_words_alone(query: str) -> None:
    assert requested_memories(query, AT) is None


@given(st.text(max_size=80))
def test_the_topic_is_made_of_words_of_the_query(text: str) -> None:
    found = requested_memories(text, AT)
    if found is not None:
        said = text.replace("’", "'")
        assert set(re.split(r"[\s?!.,;:]+", found.topic)) <= {*re.split(r"[\s?!.,;:]+", said), ""}
