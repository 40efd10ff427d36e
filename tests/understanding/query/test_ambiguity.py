"""Ambiguous words, and words that only look ambiguous."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hotmem.models import Language
from hotmem.understanding.query.ambiguity import find_ambiguous
from tests.scored import scored

POINTING = [
    ("where does she live?", ("she",)),
    ("tell me more about that", ("that",)),
    ("what foods cause it?", ("it",)),
    ("What is the evidence for it?", ("it",)),
    ("What are their advantages?", ("their",)),
    ("what is the same one as before", ("the same one",)),
    ("what did we talk about last time", ("last time",)),
    ("What are the main symptoms?", ("symptoms",)),
    ("How many types are there?", ("types",)),
    ("Are there any side effects?", ("any", "effects")),
    ("What is the largest?", ("largest",)),
    ("How is a container different?", ("different",)),
    ("What about Tuesday?", ("what about",)),
    ("and the tall tower?", ("and", "tower")),
    ("and the garage?", ("and", "garage")),
    ("Who ran the experiment?", ("experiment",)),
    ("When is the rest due?", ("the rest",)),
    ("Did you find it again?", ("it", "again")),
    ("Why did John run for office again?", ("again",)),
    ("why?", ("why",)),
    ("tell me more", ("more",)),
]

CLEAR = [
    "When does the town hall close?",
    "Is the car ready?",
    "Which bus goes to the swimming pool?",
    "Where do we meet, again?",
    "Is anybody coming today, it's Thursday?",
    "How far is it to the lake?",
    "Is it raining?",
    "Will it be cold and windy tomorrow?",
    "it takes an hour by bus",
    "Where does Marta live and what does she do?",
    "If you eat no meat at all, is it bad for you?",
    "Tell me about soup and its history.",
    "Does Marta like her job?",
    "What does the photo on Joanna's board remind her of?",
    "What's my dog called?",
    "What did Tom forget at the library?",
    "What are the symptoms of flu?",
    "How does a container differ from a machine?",
    "How is steel different from iron?",
    "that's great, thanks for that",
    "I think that you are right",
    "Is there a doctor in Ulm?",
    "what will I do the next day",
    "",
]


@scored(("text", "words"), POINTING)
def test_ambiguous_words_are_found(language: Language, text: str, words: tuple[str, ...]) -> None:
    assert find_ambiguous(language.parse([text])[0]) == words


@scored("text", CLEAR)
def test_self_contained_utterances_are_not_ambiguous(language: Language, text: str) -> None:
    assert find_ambiguous(language.parse([text])[0]) == ()


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    words=st.lists(
        st.sampled_from(
            [
                "and",
                "what about",
                "it",
                "the",
                "their",
                "there",
                "one",
                "why",
                "tower",
                "Ulm",
                "is",
                "?",
                "most",
            ]
        ),
        max_size=12,
    )
)
def test_words_are_unique_and_from_the_utterance(language: Language, words: list[str]) -> None:
    found = find_ambiguous(language.parse([" ".join(words)])[0])
    assert len(set(found)) == len(found)
    assert all(word in " ".join(words).lower() for word in found)
