"""Analysis of utterances."""

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.models import Language
from hotmem.types import Analysis, Complexity, Intent, Layer
from hotmem.understanding.query import analyse
from hotmem.understanding.query.ambiguity import find_ambiguous
from hotmem.understanding.query.antecedents import RecentTurn
from hotmem.understanding.query.coreference import expand
from hotmem.understanding.query.entities import word_ngrams
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)

AT = datetime(2026, 11, 18, 15, 0, tzinfo=UTC)

CHITCHAT = CASES["chitchat"]


def ask(language: Language, text: str, known: tuple[str, ...] = ()) -> Analysis:
    return analyse(language.parse([text])[0], AT, known)


def expansion(language: Language, text: str, *recent: str) -> tuple[str, ...]:
    *before, doc = language.parse([*recent, text])
    return expand(doc, find_ambiguous(doc), [RecentTurn(one, by_user=True) for one in before])


@scored("text", CHITCHAT, floor=0.85)
def test_chitchat_needs_no_memory(language: Language, text: str) -> None:
    analysis = ask(language, text)
    assert (analysis.intent, analysis.needs_memory, analysis.layers) == (Intent.CHITCHAT, False, ())


@scored(("text", "intent"), CASES["needed"])
def test_questions_need_memory(language: Language, text: str, intent: str) -> None:
    analysis = ask(language, text)
    assert (analysis.intent, analysis.needs_memory) == (Intent(intent), True)
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


@scored(("text", "words"), CASES["ambiguous_words"], floor=0.85)
def test_ambiguous_words(language: Language, text: str, words: list[str]) -> None:
    assert list(ask(language, text).ambiguous) == words


def test_pronouns_are_expanded_from_recent_turns(language: Language) -> None:
    recent = (
        "I have a meeting about the new contract.",
        "My sister Marta is visiting us.",
        "Nice!",
    )
    assert "Marta" in expansion(language, "where does she live?", *recent)
    assert "new contract" in expansion(language, "what did I say about it?", recent[0])
    assert expansion(language, "where does she live?") == ()
    assert expansion(language, "where does Tom live?", *recent) == ()


@settings(max_examples=100)
@given(text=st.text(max_size=80), known=st.lists(st.text(max_size=8), max_size=4))
def test_any_text_is_analysed_without_failing(
    language: Language, text: str, known: list[str]
) -> None:
    analysis = ask(language, text, tuple(known))
    assert isinstance(expansion(language, text, text), tuple)
    assert len(set(analysis.terms)) == len(analysis.terms)
    assert all(name in text for name in analysis.entities)
    assert bool(analysis.layers) == analysis.needs_memory
