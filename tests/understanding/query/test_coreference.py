"""Coreference resolution in conversations."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hotmem.models import Language
from hotmem.understanding.query.ambiguity import find_ambiguous
from hotmem.understanding.query.antecedents import RecentTurn
from hotmem.understanding.query.coreference import (
    MAX_PHRASES,
    MAX_TURNS,
    expand,
    resolve_by_rules,
)
from tests.scored import scored

MEANT = {
    "the last name said is the centre": (
        ["What is throat cancer?", "Is it treatable?", "Tell me about lung cancer."],
        "What are its symptoms?",
        ("lung cancer",),
    ),
    "a pronoun carries the centre on": (
        ["What is the Ulm Minster?", "How tall is it?", "Who paid for it?"],
        "Is it open on Sunday?",
        ("Ulm Minster",),
    ),
    "a noun that leaves open of what": (
        ["Tell me about the Bronze Age collapse."],
        "What are the possible causes?",
        ("Bronze Age collapse",),
    ),
    "a name said in short": (
        ["What was the Stanford Experiment?", "Who is Anna?"],
        "What were the results of the experiment?",
        ("Stanford Experiment",),
    ),
    "a person, not a thing": (
        ["My sister Marta is visiting us.", "She brought a cake."],
        "Where does she live?",
        ("Marta",),
    ),
    "an animal may be she": (
        ["My dog Potola is ill.", "I cleaned the kitchen."],
        "What does she eat?",
        ("Potola",),
    ),
    "many for they": (
        ["Tell me about tiger sharks.", "Where is Berlin?"],
        "What do they eat?",
        ("tiger sharks",),
    ),
    "the place and the time of the weather": (
        ["Will it snow in Detroit tomorrow?", "No."],
        "How cold will it be?",
        ("Detroit", "tomorrow"),
    ),
    "only the place, where a time is named": (
        ["Will it snow in Detroit tomorrow?"],
        "Is it going to rain on Friday?",
        ("Detroit",),
    ),
    "the last question again, for another time": (
        ["Will it be cold tomorrow?", "Yes."],
        "What about Friday?",
        ("cold",),
    ),
    "nothing to point at": ([], "What are its symptoms?", ()),
    "nothing ambiguous": (["What is throat cancer?"], "Where does Tom live?", ()),
    "nobody there": (["I bought a table."], "Where does she live?", ()),
}


@scored(("recent", "text", "phrases"), MEANT.values(), floor=0.85)
def test_expansion(
    language: Language, recent: list[str], text: str, phrases: tuple[str, ...]
) -> None:
    *before, doc = language.parse([*recent, text])
    assert resolve_by_rules(doc, find_ambiguous(doc), before) == phrases


def test_turns_beyond_the_limit_are_ignored(language: Language) -> None:
    first, other, doc = language.parse(["What is throat cancer?", "Well.", "Is it treatable?"])
    assert resolve_by_rules(doc, ("it",), [first, *[other] * (MAX_TURNS - 1)]) == ("throat cancer",)
    assert resolve_by_rules(doc, ("it",), [first, *[other] * MAX_TURNS]) == ()


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(texts=st.lists(st.text(max_size=60), min_size=1, max_size=4))
def test_expansion_is_short_and_from_the_conversation(language: Language, texts: list[str]) -> None:
    *before, doc = language.parse(texts)
    phrases = expand(
        doc, ("it",), [RecentTurn(turn, place % 2 == 0) for place, turn in enumerate(before)]
    )
    assert len(phrases) <= MAX_PHRASES
    assert all(word in " ".join(texts[:-1]) for phrase in phrases for word in phrase.split())


TOLD = {
    "a person and a thing": (
        ["My tutor Gianluca lent me a book on fresco.", "Any good?", "Too technical."],
        "When does he want it back?",
        {"Gianluca", "book"},
        (),
    ),
    "the other one of two": (
        ["I need a quote from Hanlon or Brightside.", "Which is cheaper?", "Hanlon by far."],
        "What does the other one cost?",
        {"Brightside"},
        ("Hanlon",),
    ),
    "a position in a list": (
        ["Read me the guest list.", "Amina, Piotr and Caleb."],
        "Take the second one off.",
        {"Piotr"},
        ("Amina", "Caleb"),
    ),
    "an error that was told": (
        ["The deploy fails with a permission denied on the assets folder.", "Since when?"],
        "Fix that error.",
        {"deploy", "permission", "assets folder"},
        (),
    ),
    "a question again of something else": (
        ["What did I pay for the carpet in the study?", "Six hundred euros."],
        "And for the curtains?",
        {"study"},
        (),
    ),
}


@scored(("recent", "text", "any_of", "none_of"), TOLD.values(), floor=1.0)
def test_references_to_what_was_told(
    language: Language, recent: list[str], text: str, any_of: set[str], none_of: tuple[str, ...]
) -> None:
    *before, doc = language.parse([*recent, text])
    turns = [RecentTurn(turn, place % 2 == 0) for place, turn in enumerate(before)]
    phrases = expand(doc, find_ambiguous(doc), turns)
    assert any_of & set(phrases), phrases
    assert not set(none_of) & set(phrases), phrases


def test_a_verb_taken_for_a_noun_is_not_ambiguous(language: Language) -> None:
    (doc,) = language.parse(["What does agility cost?"])
    assert find_ambiguous(doc) == ()
