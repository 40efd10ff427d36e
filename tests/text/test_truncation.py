"""Truncation before analysis: ordinary text is unchanged, other text is bounded."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotmem.text.passages import (
    CHARACTERS_PER_TOKEN,
    MAX_QUERY_CHARACTERS,
    MAX_SHOWN_WORD,
    MAX_SYMBOL_RUN,
    MAX_UNSPACED_RUN,
    join_spans,
    truncate,
    truncate_middle,
    truncate_start,
    truncated_spans,
)
from tests.attacks.hostile import UNITS, repeated
from tests.tables import tables

CASES = tables(__file__)

LIMIT = 600

words = st.text(st.characters(categories=("L", "Nd")), min_size=1, max_size=24)
stops = st.sampled_from(CASES["stops"])
ordinary = st.lists(st.tuples(words, stops), max_size=40).map(
    lambda pairs: "".join(word + stop for word, stop in pairs)
)
hostile = st.lists(
    st.tuples(st.sampled_from(tuple(UNITS.values())), st.integers(1, 300)), max_size=8
).map(lambda pairs: "".join(repeated(unit, characters) for unit, characters in pairs))
any_text = hostile | st.text(max_size=400)


@given(ordinary)
def test_ordinary_text_is_unchanged(text: str) -> None:
    assert truncate(text) == text
    assert truncated_spans(text) == [(0, len(text))]
    assert truncate_start(text, 5_000) == truncate_middle(text, 5_000) == text


def test_texts_of_other_tests_are_unchanged() -> None:
    """Those of their data files, which were written for what they say."""
    folder = Path(__file__).parents[1]
    files = [
        path for path in folder.rglob("*.json") if path.parent.name not in ("attacks", "packaging")
    ]
    texts = [text for path in files for text in _strings(json.loads(path.read_text("utf-8")))]
    assert len(texts) > 1_000
    assert [text for text in texts if truncate(text) != text] == []


def _strings(held: object) -> list[str]:
    if isinstance(held, str):
        return [held]
    if isinstance(held, dict):
        return [text for value in held.values() for text in _strings(value)]
    return [text for value in held for text in _strings(value)] if isinstance(held, list) else []


@given(any_text)
def test_truncation_is_bounded_and_idempotent(text: str) -> None:
    for read in (truncate(text, LIMIT), truncate_start(text, LIMIT)):
        assert len(read) <= LIMIT
        assert (
            sum(not one.isspace() and not one.isalnum() for one in read)
            <= LIMIT // CHARACTERS_PER_TOKEN
        )
        assert truncate(read, LIMIT) == read


@given(any_text)
def test_spans_are_ordered_and_inside_the_text(text: str) -> None:
    spans = truncated_spans(text, LIMIT)
    assert all(0 <= start <= stop <= len(text) for start, stop in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    assert not text or spans[0][0] == 0
    assert join_spans(text, spans) == truncate(text, LIMIT)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("(" * 100, "(" * MAX_SYMBOL_RUN),
        (f"a{' ' * 500}b", f"a{' ' * MAX_SYMBOL_RUN}b"),
        ("x" * 150, f"{'x' * MAX_SHOWN_WORD} {'x' * MAX_SHOWN_WORD} {'x' * 22}"),
        (f"{'(' * 5_000} Rex barks", f"{'(' * MAX_SYMBOL_RUN}Rex barks"),
        ("a." * 100, f"{'a.' * (MAX_UNSPACED_RUN // 2)} {'a.' * (100 - MAX_UNSPACED_RUN // 2)}"),
        ("", ""),
    ],
)
def test_runs_are_shortened_and_words_split(text: str, read: str) -> None:
    assert truncate(text) == read


def test_truncate_start_keeps_the_end() -> None:
    text = "well " * 2_000 + "what is my dog called?"
    assert truncate_start(text).endswith("well what is my dog called?")
    assert MAX_QUERY_CHARACTERS - 5 <= len(truncate_start(text)) <= MAX_QUERY_CHARACTERS
    assert truncate_middle(text, 40) == "well well well well  … is my dog called?"
