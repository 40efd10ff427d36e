"""Pronouns are replaced where one person alone fits."""

from hotmem.models import Language
from hotmem.understanding.facts.rewriting import resolve_pronouns
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)


def resolved(language: Language, text: str, *before: str) -> str:
    doc, *earlier = language.parse([text, *before])
    rewritten = resolve_pronouns(doc, earlier)
    return text if rewritten is None else rewritten.text


@scored(("text", "before", "expected"), CASES["a_pronoun_is_the_one_person_that_fits"], floor=0.85)
def test_a_pronoun_is_the_one_person_that_fits(
    language: Language, text: str, before: list[str], expected: str
) -> None:
    assert resolved(language, text, *before) == expected


@scored(("text", "before"), CASES["a_pronoun_stays_in_doubt"], floor=0.85)
def test_a_pronoun_stays_in_doubt(language: Language, text: str, before: list[str]) -> None:
    assert resolved(language, text, *before) == text
