"""Facts extracted from spoken sentences, and sentences without facts."""

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.models import Language
from hotmem.types import Correction, Role, Statement, Understanding
from hotmem.understanding.facts import extract_from_parse
from tests.scored import scored
from tests.tables import tables
from tests.thoroughness import examples

CASES = tables(__file__)

WEDNESDAY = datetime(2026, 11, 18, 15, 0, tzinfo=UTC)


def read(
    language: Language, text: str, speaker: str | None = "Ana", role: Role = Role.USER
) -> Understanding:
    return extract_from_parse(language.parse([text])[0], speaker, role, WEDNESDAY)


def only(language: Language, text: str) -> Statement:
    (statement,) = read(language, text).statements
    return statement


def test_the_same_attribute_stated_twice_has_the_same_key(language: Language) -> None:
    first, second = (
        only(language, "My dog is called Potola."),
        only(language, "my dog's name is Paola"),
    )
    assert (
        (first.subject, first.relation)
        == (second.subject, second.relation)
        == ("Ana's dog", "is called")
    )
    assert first.single
    assert (first.object, second.object) == ("Potola", "Paola")


def test_a_speaker_without_a_name_is_the_user(language: Language) -> None:
    (statement,) = read(language, "My dog is called Potola.", speaker=None).statements
    assert statement.text == "The user's dog is called Potola."
    assert statement.subject == "the user's dog"


def test_the_assistant_states_nothing(language: Language) -> None:
    understanding = read(language, "I live in Berlin and I love Marta.", role=Role.ASSISTANT)
    assert (understanding.statements, understanding.corrections) == ((), ())
    assert "Berlin" in understanding.entities


def test_names_are_entities_and_dates_are_not(language: Language) -> None:
    assert set(read(language, "Marta met Tom in Berlin on Tuesday at 5 pm.").entities) == {
        "Marta",
        "Tom",
        "Berlin",
    }


@scored(("text", "wrong", "right", "relation"), CASES["reads_corrections"], floor=0.85)
def test_reads_corrections(
    language: Language, text: str, wrong: str, right: str, relation: str
) -> None:
    (correction,) = read(language, text).corrections
    assert (correction.wrong, correction.right, correction.relation) == (wrong, right, relation)
    assert 0 <= correction.start < correction.stop <= len(text)


def test_a_corrected_count_keeps_its_noun(language: Language) -> None:
    (correction,) = read(language, "I have three kids, not two.").corrections
    assert (correction.wrong, correction.right) == ("", "three kids")


@scored("text", CASES["reads_no_correction_in_remarks"], floor=1.0)
def test_reads_no_correction_in_remarks(language: Language, text: str) -> None:
    assert read(language, text).corrections == ()


_WORDS = (
    "I my sister Marta have is called not no said a dog and , . ? ! 'm don't live in Berlin "
    "next Tuesday if because that it's "
    "\" … 2023 May 31 works at ' going to want"
)


@settings(max_examples=examples(150))
@given(
    text=st.one_of(
        st.text(max_size=80), st.lists(st.sampled_from(_WORDS.split()), max_size=25).map(" ".join)
    )
)
def test_any_text_is_processed(language: Language, text: str) -> None:
    understanding = read(language, text)
    found: list[Statement | Correction] = [*understanding.statements, *understanding.corrections]
    for place in found:
        assert 0 <= place.start < place.stop <= len(text)
    for statement in understanding.statements:
        assert statement.text.endswith(".")
        assert statement.subject
        assert statement.object or statement.negated
        assert 1 <= statement.importance <= 5
    for name in understanding.entities:
        assert name in text
