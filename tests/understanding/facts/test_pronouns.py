"""Pronouns are replaced where one person alone fits."""

from hotmem.models import Language
from hotmem.understanding.facts.statements import resolve_pronouns
from tests.scored import scored


def resolved(language: Language, text: str, *before: str) -> str:
    doc, *earlier = language.parse([text, *before])
    rewritten = resolve_pronouns(doc, earlier)
    return text if rewritten is None else rewritten.text


@scored(
    ("text", "before", "expected"),
    [
        (
            "Leo starts school Monday. He's nervous.",
            (),
            "Leo starts school Monday. Leo is nervous.",
        ),
        (
            "My son Leo starts school. He'll be fine.",
            (),
            "My son Leo starts school. My son Leo will be fine.",
        ),
        (
            "She lives in Denver now.",
            ("My sister Beth called.",),
            "My sister Beth lives in Denver now.",
        ),
        (
            "He stopped in May.",
            ("Is your son still doing karate?",),
            "My son stopped in May.",
        ),
        ("Her birthday is in May.", ("I met Dana.",), "Dana's birthday is in May."),
        (
            "My mother-in-law is coming and she is vegan.",
            (),
            "My mother-in-law is coming and my mother-in-law is vegan.",
        ),
        (
            "She works at the harbour.",
            ("my sister in law Ann called",),
            "My sister in law Ann works at the harbour.",
        ),
        (
            "She hates flying.",
            ("My brother Tom and my sister Beth are coming.",),
            "My sister Beth hates flying.",
        ),
    ],
    floor=0.85,
)
def test_a_pronoun_is_the_one_person_that_fits(
    language: Language, text: str, before: tuple[str, ...], expected: str
) -> None:
    assert resolved(language, text, *before) == expected


@scored(
    ("text", "before"),
    [
        ("She lives in Denver now.", ("My sister Beth met my aunt Carla.",)),
        ("She lives in Denver now.", ("My brother Tom called.",)),
        ("She lives in Denver now.", ()),
        ("She lives in Denver now.", ("I'm Ana.",)),
        ("He's nervous about Leo.", ()),
        ("They live in Denver.", ("My sister Beth called.",)),
        ("It was her idea.", ("My sister Beth called.",)),
    ],
    floor=0.85,
)
def test_a_pronoun_stays_in_doubt(language: Language, text: str, before: tuple[str, ...]) -> None:
    assert resolved(language, text, *before) == text
