"""Pronouns in the place of the subjects that a statement is about too."""

import pytest

from hotmem.models import Language
from hotmem.models.reader import Effects, Reader
from hotmem.types.understanding import Doc
from hotmem.understanding.named_subjects import confirmed_effects, pronoun_forms
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)

PEOPLE = CASES["people"]
FACTS = CASES["facts"]
"""Facts that are independent of each other."""

PARROT = "The user's aunt Berta has a parrot."
BERTA = "the user's aunt Berta"


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader.load()


def confirmed(reader: Reader, known: str, subject: str, said: Doc) -> Effects:
    """What a turn does to a statement, not only by its name."""
    return confirmed_effects(reader, known, subject, said.text, lambda: said)


@scored(("said", "subject", "forms"), CASES["forms"], floor=0.85)
def test_forms(language: Language, said: str, subject: str, forms: list[str]) -> None:
    assert set(forms) <= set(pronoun_forms(language.parse([said])[0], subject))
    assert bool(forms) is bool(pronoun_forms(language.parse([said])[0], subject))


@scored("said", PEOPLE, floor=1.0)
def test_other_facts_of_the_same_person_doubt_nothing(
    reader: Reader, language: Language, said: str
) -> None:
    """Without the forms, one in six does."""
    docs = language.parse([f"{said} {fact}." for fact in FACTS])
    found = [
        confirmed(reader, f"{PEOPLE[said]} {known}.", PEOPLE[said], new)
        for known in FACTS
        for fact, new in zip(FACTS, docs, strict=True)
        if fact != known
    ]
    assert sum(one.doubted >= reader.settings.doubted for one in found) <= len(found) // 50


def test_a_name_alone_puts_nothing_in_doubt(reader: Reader, language: Language) -> None:
    (said,) = language.parse(["My aunt Berta lives in Graz."])
    assert reader.effects(PARROT, said.text).doubted >= reader.settings.doubted
    assert confirmed(reader, PARROT, BERTA, said).doubted < reader.settings.doubted


def test_a_change_stays_what_it_is(reader: Reader, language: Language) -> None:
    (said,) = language.parse(["My aunt Berta gave the parrot away."])
    found = confirmed(reader, PARROT, BERTA, said)
    assert found == reader.effects(PARROT, said.text)
    assert found.doubted >= reader.settings.doubted


def test_dates_are_compared_as_people_say_them(reader: Reader, language: Language) -> None:
    said = language.parse(["The ferry is not on 2026-13-45."])[0]
    stored, spoken = "2026-11-20 (Friday)", "Friday 20 November"
    assert confirmed(
        reader, f"The user has a barbecue on {stored} at 10:00.", "the user", said
    ) == confirmed(reader, f"The user has a barbecue on {spoken} at 10:00.", "the user", said)
