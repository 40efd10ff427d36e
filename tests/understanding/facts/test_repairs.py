"""Self-repairs are removed, and nothing else."""

from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hotmem.models import Language
from hotmem.types import Role
from hotmem.understanding.facts import extract_from_parse
from hotmem.understanding.facts.corrections import remove_repairs
from tests.scored import scored

MONDAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def repaired(language: Language, text: str) -> str:
    found = remove_repairs(language.parse([text])[0])
    return text if found is None else found.text


@scored(
    ("said", "wanted"),
    [
        ("The vet is on Monday, no, Tuesday.", "The vet is on Tuesday."),
        (
            "My train goes on Friday, sorry, on Saturday at nine.",
            "My train goes on Saturday at nine.",
        ),
        ("I live in Evora, I mean in Beja.", "I live in Beja."),
        ("We fly in um September, I mean October.", "We fly in October."),
        ("in September I mean October we fly to Rome", "in October we fly to Rome"),
        ("My brother works as a baker, no wait, a butcher.", "My brother works as a butcher."),
        ("I was born in Graz, no, I was born in Linz.", "I was born in Linz."),
        (
            "We have two goats, or rather three goats, and a donkey.",
            "We have three goats, and a donkey.",
        ),
        (
            "My neighbour is Omar, sorry, Amar, and his son is Ali, no, Eli.",
            "My neighbour is Amar, and his son is Eli.",
        ),
        ("My favourite colour is teal, no wait, it is ochre.", "My favourite colour is ochre."),
        ("The dentist is on Monday, no, it is on Tuesday.", "The dentist is on Tuesday."),
        ("My brother works for Shell, sorry, he works for BP.", "My brother works for BP."),
        ("My sister lives in Paris. No, wait, she lives in Lyon.", "My sister lives in Lyon."),
        ("My sister lives in Paris. Sorry, Lyon.", "My sister lives in Lyon."),
        ("My sister is a nurse, no she is a midwife.", "My sister is a midwife."),
        ("My boss is called Karen um no Sharon.", "My boss is called Sharon."),
        ("I paint. My teacher is Jo, uh, no, Bo.", "I paint. My teacher is Bo."),
    ],
    floor=0.85,
)
def test_a_repair_is_removed(language: Language, said: str, wanted: str) -> None:
    assert repaired(language, said) == wanted


@scored(
    "said",
    [
        "I like tea, no sugar.",
        "Well, I live in Evora.",
        "I was late, sorry, the traffic was bad.",
        "My dog, well, he died last year.",
        "I love Rome, I mean really love it.",
        "She said yes, no, maybe.",
        "We have no children, sorry.",
        "No, wait, I have two dogs.",
        "I called Tom, no answer.",
        "I have a dog. Sorry, I have to go.",
        "My sister is a nurse. Sorry, she is lovely.",
        "My dog is called Rex, no wait, that is the cat.",
        "My birthday is on the third of May, no, the fourth.",
        "",
    ],
    floor=0.85,
)
def test_other_editing_terms_are_kept(language: Language, said: str) -> None:
    assert remove_repairs(language.parse([said])[0]) is None


def test_offsets_of_a_repaired_turn_are_those_of_the_turn(language: Language) -> None:
    said = "My dog is called Paola, no, Potola, and I live in Evora, I mean in Beja."
    found = remove_repairs(language.parse([said])[0])
    assert found is not None
    understood = found.restore_offsets(
        extract_from_parse(language.parse([found.text])[0], "Ana", Role.USER, MONDAY)
    )
    spans = {one.object: said[one.start : one.stop] for one in understood.statements}
    assert spans["Potola"].startswith("My dog") and spans["Potola"].endswith("Potola")
    assert spans["Beja"].endswith("Beja") and not {"Paola", "Evora"} & spans.keys()


@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.sampled_from(
            [
                "I live in Beja",
                "no",
                "sorry",
                "I mean",
                "a cat",
                "on Monday",
                ",",
                ".",
                "wait",
                "actually",
                "not",
            ]
        ),
        max_size=9,
    )
)
def test_segments_are_spans_of_the_turn(language: Language, parts: list[str]) -> None:
    said = " ".join(parts)
    found = remove_repairs(language.parse([said])[0])
    if found is not None:
        assert all(piece.text == said[piece.start : piece.stop] for piece in found.segments)
        assert all(
            one.start <= one.stop <= following.start for one, following in pairwise(found.segments)
        )
