"""Pronouns in the place of the subjects that a statement is about too."""

import pytest

from hotmem.models import Language
from hotmem.models.reader import Effects, Reader
from hotmem.types.understanding import Doc
from hotmem.understanding.named_subjects import confirmed_effects, pronoun_forms
from tests.scored import scored

PEOPLE = {
    "My aunt Berta": "The user's aunt Berta",
    "Uncle Ferdi": "Uncle Ferdi",
    "My friend Ilse": "The user's friend Ilse",
    "My brother Jo": "The user's brother Jo",
    "Callum": "Callum",
    "My colleague Nasrin": "The user's colleague Nasrin",
}
FACTS = (
    "has a parrot",
    "lives in Graz",
    "plays the tuba",
    "drives a taxi",
    "breeds alpacas",
    "is allergic to nuts",
    "works as a nurse",
    "speaks Portuguese",
    "owns a caravan",
    "wears hearing aids",
)
"""Facts that are independent of each other."""

PARROT = "The user's aunt Berta has a parrot."
BERTA = "the user's aunt Berta"


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader.load()


def confirmed(reader: Reader, known: str, subject: str, said: Doc) -> Effects:
    """What a turn does to a statement, not only by its name."""
    return confirmed_effects(reader, known, subject, said.text, lambda: said)


@scored(
    ("said", "subject", "forms"),
    [
        ("My aunt Berta lives in Graz.", BERTA, {"She lives in Graz."}),
        ("Berta lives in Graz.", BERTA, {"She lives in Graz."}),
        ("Leo moved out.", "the user's son Leo", {"He moved out."}),
        ("Ilse moved to Zwolle.", "Ilse", {"She moved to Zwolle.", "He moved to Zwolle."}),
        ("The Millers moved.", "The Millers", {"They moved."}),
        ("The tortoise is back.", "The user's tortoise", set()),
        ("My wife retired.", "the user's wife", set()),
        ("Mum came home.", "the user's mum", set()),
        ("Yesterday Leo sold the car.", "Leo", {"Yesterday she sold the car."}),
        ("I gave Marcus the ring back.", "Marcus", set()),
        ("Berta's parrot died.", BERTA, set()),
        ("My uncle lives in Graz.", BERTA, set()),
        ("I moved to Graz.", "the user", set()),
    ],
    floor=0.85,
)
def test_forms(language: Language, said: str, subject: str, forms: set[str]) -> None:
    assert forms <= set(pronoun_forms(language.parse([said])[0], subject))
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
