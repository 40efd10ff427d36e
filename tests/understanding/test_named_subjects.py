"""Whom a turn is about by name."""

from hotmem.models import Language
from hotmem.understanding.named_subjects import is_absent, named_subjects, names_another
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)


@scored(("said", "names"), CASES["named_subjects"], floor=0.85)
def test_named_subjects(language: Language, said: str, names: list[str]) -> None:
    assert named_subjects(language.parse([said])[0]) == set(names)


@scored(("subject", "names", "text", "another"), CASES["names_another"], floor=1.0)
def test_names_another(subject: str, names: list[str], text: str, another: bool) -> None:
    assert names_another(subject, frozenset(names), text) is another


@scored(("subject", "text", "absent"), CASES["who_is_not_mentioned_is_absent"], floor=1.0)
def test_who_is_not_mentioned_is_absent(subject: str, text: str, absent: bool) -> None:
    known = f"{subject} lives in Graz and has a dog called Bruno."
    assert is_absent(subject, "Nadia", known, text) is absent
