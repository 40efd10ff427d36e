"""The written utterances and how they are judged."""

import pytest

from eval.language.extraction import ANY, Case, Expected, cases, read, right
from hotmem.models import Language
from hotmem.understanding.facts import relations
from hotmem.understanding.facts.relations import Relation


def test_the_utterances_name_relations_of_the_table() -> None:
    every = cases()
    assert len(every) >= 300 and len({one.text for one in every}) == len(every)
    named = {fact.relation for one in every for fact in one.facts} - {ANY}
    assert all(isinstance(getattr(relations, name), Relation) for name in named)
    assert abs(sum(one.seen for one in every) - len(every) / 2) <= 1


@pytest.mark.parametrize(
    ("text", "facts", "wanted"),
    [
        ("I live in Beja.", (Expected("LIVES_IN", ("Beja",)),), True),
        ("I live in Beja.", (Expected(ANY, ("beja",)),), True),
        ("I live in Beja.", (Expected("WORKS_AT", ("Beja",)),), False),
        ("I live in Beja.", (), False),
        ("Good morning!", (), True),
        ("Good morning!", (Expected(ANY, ("morning",)),), False),
    ],
)
def test_an_utterance_is_right_if_its_facts_are_read_and_no_others_are_made_up(
    language: Language, text: str, facts: tuple[Expected, ...], wanted: bool
) -> None:
    assert right(Case(True, text, facts), read(language, text)) is wanted
