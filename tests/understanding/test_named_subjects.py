"""Whom a turn is about by name."""

import pytest

from hotmem.models import Language
from hotmem.understanding.named_subjects import named_subjects, names_another


@pytest.mark.parametrize(
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
)
def test_named_subjects(language: Language, said: str, names: set[str]) -> None:
    assert named_subjects(language.parse([said])[0]) == names


@pytest.mark.parametrize(
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
)
def test_names_another(subject: str, names: set[str], text: str, another: bool) -> None:
    assert names_another(subject, frozenset(names), text) is another
