"""Which words of a turn can be understood alone."""

from hotmem.models import Language
from hotmem.understanding.kept_sentences import stands_alone
from tests.scored import scored


@scored(
    "said",
    [
        "My sister rings me every Wednesday.",
        "Brodie did that sensor himself from a kit.",
        "There's a leak under the sink.",
        "Just moved to Lyon.",
        "they have me on warfarin",
        "The keypad on the gate is 6161.",
        "i cant eat gluten",
        "My nephew Tim studies at Oxford.",
        "my mum works at lidl",
        "My mum works at Spar.",
    ],
    floor=0.85,
)
def test_a_clause_with_its_subject_stands_alone(language: Language, said: str) -> None:
    assert stands_alone(language.parse([said])[0][:])


@scored(
    "said",
    [
        "It's a kilo.",
        "In a tram.",
        "The old man above us.",
        "He coughs when",
        "Probably for months.",
        "She offered it.",
        "Burning kerosene, the tank.",
        "That's month end.",
    ],
    floor=0.85,
)
def test_fragments_do_not(language: Language, said: str) -> None:
    assert not stands_alone(language.parse([said])[0][:])
