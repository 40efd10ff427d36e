"""Parts of a turn, completed and divided by the parse."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.models import Language
from hotmem.understanding.term_model import clauses
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)


def divided(language: Language, said: str, words: str) -> list[str]:
    doc = language.parse([said])[0]
    start = said.index(words)
    return [said[first:last] for first, last in clauses(doc, start, start + len(words))]


@scored(("said", "words", "found"), CASES["clauses"], floor=1.0)
def test_clauses(language: Language, said: str, words: str, found: list[str]) -> None:
    assert divided(language, said, words) == found


@given(text=st.text(min_size=1, max_size=80), ends=st.tuples(st.floats(0, 1), st.floats(0, 1)))
@settings(max_examples=60)
def test_clauses_are_in_order_within_the_text(
    language: Language, text: str, ends: tuple[float, float]
) -> None:
    doc = language.parse([text])[0]
    start, stop = sorted(round(end * len(doc.text)) for end in ends)
    last = 0
    for first, following in clauses(doc, start, stop):
        assert last <= first < following <= len(doc.text)
        last = following
