"""Which words of a turn can be understood alone."""

from hotmem.models import Language
from hotmem.understanding.kept_sentences import stands_alone
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)


@scored("said", CASES["a_clause_with_its_subject_stands_alone"], floor=0.85)
def test_a_clause_with_its_subject_stands_alone(language: Language, said: str) -> None:
    assert stands_alone(language.parse([said])[0][:])


@scored("said", CASES["fragments_do_not"], floor=0.85)
def test_fragments_do_not(language: Language, said: str) -> None:
    assert not stands_alone(language.parse([said])[0][:])
