"""Self-repairs are removed, and nothing else."""

from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.models import Language
from hotmem.understanding.facts.corrections import remove_repairs
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)

MONDAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def repaired(language: Language, text: str) -> str:
    found = remove_repairs(language.parse([text])[0])
    return text if found is None else found.text


@scored(("said", "wanted"), CASES["a_repair_is_removed"], floor=0.85)
def test_a_repair_is_removed(language: Language, said: str, wanted: str) -> None:
    assert repaired(language, said) == wanted


@scored("said", CASES["other_editing_terms_are_kept"], floor=0.85)
def test_other_editing_terms_are_kept(language: Language, said: str) -> None:
    assert remove_repairs(language.parse([said])[0]) is None


@settings(max_examples=40)
@given(
    st.lists(
        st.sampled_from(CASES["segments_are_spans_of_the_turn"]),
        max_size=9,
    )
)
def test_segments_are_spans_of_the_turn(language: Language, parts: list[str]) -> None:
    said = " ".join(parts)
    found = remove_repairs(language.parse([said])[0])
    if found is not None:
        assert all(piece.text == said[piece.start : piece.stop] for piece in found.segments)
        assert all(
            one.start <= one.stop <= following.start for one, following in pairwise(found.segments)
        )
