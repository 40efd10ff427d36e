"""Analysis of utterances."""

from datetime import UTC, datetime

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hotmem.models import Language
from hotmem.types import Analysis, Complexity, Intent, Layer
from hotmem.understanding.query import analyse
from hotmem.understanding.query.antecedents import RecentTurn
from hotmem.understanding.query.entities import word_ngrams
from tests.scored import scored

AT = datetime(2026, 11, 18, 15, 0, tzinfo=UTC)

CHITCHAT = [
    "hi",
    "Hello there!",
    "good morning Max",
    "thanks a lot",
    "Thank you so much for your help.",
    "bye, see you tomorrow",
    "ok",
    "yeah sure",
    "no",
    "um, yeah",
    "How are you?",
    "that's great",
    "haha nice",
    "Not bad, thanks. And you?",
    "Good night.",
    "I'm fine",
    "...",
    "",
]

NEEDED = [
    ("Hey, what's my dog's name?", Intent.FACT),
    ("okay thanks, where do I live", Intent.FACT),
    ("so, who is Rex?", Intent.FACT),
    ("and my cat?", Intent.FACT),
    ("Hi, I'm Ana", Intent.FACT),
    ("When did Caroline go to the support group?", Intent.TIME),
    ("do I have anything on Friday", Intent.TIME),
    ("What did I do last week?", Intent.TIME),
    ("did I tell you about my sister?", Intent.REFERENCE),
    ("What did you say about the contract?", Intent.REFERENCE),
    ("How do Marta and Tom know each other?", Intent.RELATION),
    ("how often do I go running", Intent.PATTERN),
    ("I've been struggling with auth a lot, haven't I?", Intent.PATTERN),
    ("what did we talk about last time", Intent.SUMMARY),
    ("Can you summarise our conversation?", Intent.SUMMARY),
    ("remind me to buy milk", Intent.INSTRUCTION),
    ("remind me what Achiel said about the beans", Intent.REMIND),
    ("can you find the note about the boiler", Intent.FIND),
    ("look up my allergies", Intent.FIND),
    ("show me something similar to the trouble with the login", Intent.SIMILAR),
    ("have we got anything like that pump", Intent.FACT),
    ("do we have anything like the old pump", Intent.SIMILAR),
    ("forget what I said about Paola", Intent.INSTRUCTION),
    ("why", Intent.FACT),
]


def ask(
    language: Language, text: str, known: tuple[str, ...] = (), recent: tuple[str, ...] = ()
) -> Analysis:
    *before, doc = language.parse([*recent, text])
    return analyse(doc, AT, known, [RecentTurn(turn, by_user=True) for turn in before])


@scored("text", CHITCHAT, floor=0.85)
def test_chitchat_needs_no_memory(language: Language, text: str) -> None:
    analysis = ask(language, text)
    assert (analysis.intent, analysis.needs_memory, analysis.layers) == (Intent.CHITCHAT, False, ())


@scored(("text", "intent"), NEEDED)
def test_questions_need_memory(language: Language, text: str, intent: Intent) -> None:
    analysis = ask(language, text)
    assert (analysis.intent, analysis.needs_memory) == (intent, True)
    assert analysis.layers == tuple(Layer)


def test_a_simple_question_of_the_user(language: Language) -> None:
    analysis = ask(language, "What's my dog called?")
    assert (analysis.complexity, analysis.first_person) == (Complexity.LOW, True)


def test_terms_are_the_content_words_in_order(language: Language) -> None:
    assert ask(language, "What was the name of the 2 dogs that Marta's dogs met?").terms == (
        "name",
        "2",
        "dogs",
        "marta",
        "met",
    )


def test_known_names_are_found_in_any_case(language: Language) -> None:
    assert ask(language, "how is potola doing", known=("Potola",)).entities == ("potola",)
    assert ask(language, "annapolis is nice, tell me of it", known=("Anna",)).entities == ()


def test_a_name_keeps_its_apostrophe(language: Language) -> None:
    assert ask(language, "Is O'Brien my boss?").entities == ("O'Brien",)
    assert {"O'Brien", "Ana", "James"} <= set(
        word_ngrams("did o'hara or O'Brien meet Ana's dog, or James' cat?")
    )


@scored(
    ("text", "words"),
    [
        ("where does she live?", ("she",)),
        ("tell me more about that", ("that",)),
        ("what is the same one as before", ("the same one",)),
        ("what did we talk about last time", ("last time",)),
        ("Where does Marta live and what does she do?", ()),
        ("Is it raining?", ()),
        ("What's my dog called?", ()),
    ],
    floor=0.85,
)
def test_ambiguous_words(language: Language, text: str, words: tuple[str, ...]) -> None:
    assert ask(language, text).ambiguous == words


def test_pronouns_are_expanded_from_recent_turns(language: Language) -> None:
    recent = (
        "I have a meeting about the new contract.",
        "My sister Marta is visiting us.",
        "Nice!",
    )
    assert "Marta" in ask(language, "where does she live?", recent=recent).expansion
    assert "new contract" in ask(language, "what did I say about it?", recent=recent[:1]).expansion
    assert ask(language, "where does she live?").expansion == ()
    assert ask(language, "where does Tom live?", recent=recent).expansion == ()


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=st.text(max_size=80), known=st.lists(st.text(max_size=8), max_size=4))
def test_any_text_is_analysed_without_failing(
    language: Language, text: str, known: list[str]
) -> None:
    analysis = ask(language, text, tuple(known), (text,))
    assert len(set(analysis.terms)) == len(analysis.terms)
    assert all(name in text for name in analysis.entities)
    assert bool(analysis.layers) == analysis.needs_memory
