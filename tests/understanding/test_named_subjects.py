"""Whom a turn is about by name."""

from hotmem.models import Language
from hotmem.understanding.named_subjects import is_absent, named_subjects, names_another
from tests.scored import scored


@scored(
    ("said", "names"),
    [
        ("Carla moved to Austin.", {"carla"}),
        ("My sister Carla lives in Phoenix.", {"sister", "carla"}),
        ("My cousin April lives in Boston.", {"april"}),
        ("My dog Anna-Lena works at Siemens.", {"dog", "anna", "lena"}),
        ("My sister Anna-Lena works at Siemens.", {"sister", "anna", "lena"}),
        ("My aunt Beth works at Siemens.", {"aunt", "beth"}),
        ("My aunt April works at Siemens.", {"aunt", "april"}),
        ("They laid me off on Monday.", set()),
        ("We moved to York.", set()),
    ],
    floor=0.85,
)
def test_named_subjects(language: Language, said: str, names: set[str]) -> None:
    assert named_subjects(language.parse([said])[0]) == names


@scored(
    ("subject", "names", "text", "another"),
    [
        ("Ana's sister Beth", {"carla"}, "Ana's sister Beth lives in Denver.", True),
        ("Ana's sister Carla", {"carla"}, "Ana's sister Carla lives in Phoenix.", False),
        ("Uncle Bob", {"uncle", "sean"}, "Uncle Bob lives in Cork.", True),
        ("Anna-Lena", {"anna", "lena"}, "Anna-Lena is a judge.", False),
        ("Anna-Lena", {"anna", "maria"}, "Anna-Lena is a judge.", True),
        ("Maria Lopez", {"maria"}, "Maria Lopez is a judge.", False),
        ("Beth", {"carla", "beth"}, "Beth lives in Denver.", False),
        ("the user's landlord", {"quarmby"}, "The user's landlord is Mr. Oddie.", False),
        ("the user's sister Beth", set(), "The user's sister Beth lives in Denver.", False),
    ],
    floor=1.0,
)
def test_names_another(subject: str, names: set[str], text: str, another: bool) -> None:
    assert names_another(subject, frozenset(names), text) is another


@scored(
    ("subject", "text", "absent"),
    [
        ("Nadia's brother Felix", "We moved from Linz to Graz because of my job.", True),
        ("The user's son Tim", "I quit smoking.", True),
        ("Nadia's brother Felix", "My brother sold his car.", False),
        ("Nadia's brother Felix", "felix sold the car", False),
        ("Nadia's brother Felix", "He sold the car.", False),
        ("Nadia's cat", "The neighbour took everything.", False),
        ("Ben", "My boyfriend and I broke up.", False),
        ("Ben", "I broke up with Ben.", False),
        ("Nadia's sister", "Bruno died on Sunday.", False),
        ("Nadia", "We moved to Graz.", False),
        ("Nadia's flat", "We moved to Graz.", False),
    ],
    floor=1.0,
)
def test_who_is_not_mentioned_is_absent(subject: str, text: str, absent: bool) -> None:
    known = f"{subject} lives in Graz and has a dog called Bruno."
    assert is_absent(subject, "Nadia", known, text) is absent
