"""Known names that nobody said, in turns of the training batches."""

from eval.language.false_alarms import KNOWN, false_alarms, known_names, training_turns
from hotmem.models import Language


def test_names_are_different_and_have_sounds() -> None:
    names = known_names()
    assert len({one.name.casefold() for one in names}) == len(names) > max(KNOWN) * 1.4
    assert all(one.sounds for one in names)


def test_hardly_a_statement_has_a_false_name(language: Language) -> None:
    turns = training_turns(1200)[::30]
    found = [one for one in false_alarms(turns, language) if one.statement]
    assert found == []
