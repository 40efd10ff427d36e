"""Truecasing of recognised speech, without moving a letter."""

from datetime import UTC, datetime

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hotmem.models import Language
from hotmem.types import Role
from hotmem.understanding.facts import extract_from_parse
from hotmem.understanding.facts.corrections import lacks_case, sentence_starts, truecase
from tests.scored import scored

WEDNESDAY = datetime(2026, 11, 18, 15, 0, tzinfo=UTC)


def restored(language: Language, text: str, *known: str) -> str:
    (doc,) = language.parse([text])
    return truecase(doc, sentence_starts(doc), known)


@scored(
    ("text", "none"),
    [
        ("i live in lisbon", True),
        ("I LIVE IN LISBON", True),
        ("I live in Lisbon", False),
        ("i live in Lisbon", False),
        ("42", False),
        ("a", False),
        ("我住在里斯本", False),
    ],
    floor=0.85,
)
def test_text_that_lacks_case(text: str, none: bool) -> None:
    assert lacks_case(text) is none


@scored(
    ("heard", "written"),
    [
        ("my sister works in berlin and i miss her", "My sister works in Berlin and I miss her"),
        ("we went to rome it was hot", "We went to Rome It was hot"),
        (
            "i moved to berlin in march i used to live in hamburg",
            "I moved to Berlin in March I used to live in Hamburg",
        ),
        ("the book i read last week was great", "The book I read last week was great"),
    ],
    floor=1.0,
)
def test_names_and_sentence_starts_are_capitalised(
    language: Language, heard: str, written: str
) -> None:
    assert restored(language, heard) == written


def test_known_names_are_capitalised(language: Language) -> None:
    assert (
        restored(language, "i saw quenby marsh at the gym", "Quenby Marsh")
        == "I saw Quenby Marsh at the gym"
    )


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None
)
@given(text=st.text(alphabet="abcdeiéßŉ '.", min_size=1, max_size=60))
def test_no_letter_moves(language: Language, text: str) -> None:
    assert restored(language, text).casefold() == text.casefold() and len(
        restored(language, text)
    ) == len(text)


@scored(
    ("heard", "facts"),
    [
        (
            "my name is ana and i live in lisbon i have a dog called rex and two cats",
            {"lives in Lisbon", "dog is called Rex"},
        ),
        (
            "i moved to berlin in march i used to live in hamburg",
            {"moved to Berlin in March 2026", "used to live in Hamburg"},
        ),
        ("we are planning a trip to japan with my brother tom", {"brother is called Tom"}),
        ("um so i uh i went to the the doctor yesterday", {"went to the doctor on 2026-11-17"}),
        ("i bought a car yesterday i love it", {"bought a car on 2026-11-17"}),
    ],
    floor=1.0,
)
def test_facts_are_extracted_from_recognised_speech(
    language: Language, heard: str, facts: set[str]
) -> None:
    (doc,) = language.parse([heard])
    starts = sentence_starts(doc)
    found = extract_from_parse(
        language.parse_sentences(truecase(doc, starts), starts), None, Role.USER, WEDNESDAY
    )
    texts = [statement.text for statement in found.statements]
    assert all(any(fact in text for text in texts) for fact in facts)
    assert all(heard[statement.start : statement.stop].strip() for statement in found.statements)
