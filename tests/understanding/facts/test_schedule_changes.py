"""Whether a later turn cancels, moves or restores a plan."""

from datetime import UTC, datetime

from hotmem.models import Language
from hotmem.understanding.facts.events import CHANGE_WORDS, affects_plan, changed_events
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)

MONDAY = datetime(2026, 11, 16, 10, tzinfo=UTC)


def is_changed(language: Language, plan: str, later: str) -> bool:
    words, doc = language.parse([plan, later], names=False)
    return bool(CHANGE_WORDS.search(later)) and any(
        affects_plan(thing, words) for thing in changed_events(doc, MONDAY)
    )


@scored(("plan", "later"), CASES["changed"])
def test_a_changed_plan(language: Language, plan: str, later: str) -> None:
    assert is_changed(language, plan, later)


@scored(("plan", "later"), CASES["as_before"])
def test_similar_words_change_nothing(language: Language, plan: str, later: str) -> None:
    assert not is_changed(language, plan, later)


def test_on_again(language: Language) -> None:
    assert is_changed(language, "we've got a barbecue on the twentieth", "the barbecue is back on")
    assert not is_changed(
        language, "we've got a barbecue on the twentieth", "the barbecue is on friday"
    )
