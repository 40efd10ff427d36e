"""Facts extracted from spoken sentences, and sentences without facts."""

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.models import Language
from hotmem.types import Category, Correction, Kind, Role, Statement, Understanding
from hotmem.understanding.facts import extract_from_parse
from tests.conversation import read_facts
from tests.scored import scored
from tests.tables import tables
from tests.thoroughness import examples

CASES = tables(__file__)

WEDNESDAY = datetime(2026, 11, 18, 15, 0, tzinfo=UTC)

TABLES = tables(__file__, "extracted")
"""Sentences with the facts that they state, and sentences that state none."""


def read(
    language: Language, text: str, speaker: str | None = "Ana", role: Role = Role.USER
) -> Understanding:
    return extract_from_parse(language.parse([text])[0], speaker, role, WEDNESDAY)


def only(language: Language, text: str) -> Statement:
    (statement,) = read(language, text).statements
    return statement


@scored(("text", "expected"), TABLES["stated"])
def test_extracts_what_is_stated(language: Language, text: str, expected: list[str]) -> None:
    understanding = read(language, text)
    assert sorted(statement.text for statement in understanding.statements) == sorted(expected)
    for statement in understanding.statements:
        assert (
            text[statement.start : statement.stop].strip()
            == text[statement.start : statement.stop]
            != ""
        )


@scored("text", TABLES["nothing"])
def test_extracts_nothing_where_nothing_is_stated(language: Language, text: str) -> None:
    assert read(language, text).statements == ()


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


def test_moving_somewhere_supersedes_living_elsewhere(language: Language) -> None:
    before, after = only(language, "I live in Lisbon."), only(language, "I moved to Berlin in May.")
    assert (
        (before.subject, before.relation, before.single)
        == (after.subject, after.relation, after.single)
        == ("Ana", "lives in", True)
    )
    assert (before.object, after.object) == ("Lisbon", "Berlin")


def test_spelling_variants_share_a_key(language: Language) -> None:
    british, american = (
        only(language, "My favourite colour is green."),
        only(language, "My favorite color is red."),
    )
    assert british.subject == american.subject == "Ana's favourite colour"


def test_negation_and_hedging(language: Language) -> None:
    assert only(language, "I don't work at Siemens any more.").negated
    doubted = only(language, "I think my brother maybe works at Google.")
    assert doubted.hedged
    assert doubted.text.startswith("Perhaps ")
    assert only(language, "I think my brother works at Google.").hedged
    gone = only(language, "I don't live there any more.")
    assert (gone.relation, gone.object, gone.negated) == ("lives in", "", True)


def test_kind_and_category_come_from_the_relation(language: Language) -> None:
    duty = only(language, "I need to call the dentist on Friday.")
    assert (duty.kind, duty.category) == (Kind.REMINDER, Category.REMINDERS)
    assert only(language, "I love sushi.").kind is Kind.PREFERENCE
    assert only(language, "I'm allergic to peanuts.").importance == 5


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


def test_exclusive_values_end_each_other_and_a_negation_ends_none(language: Language) -> None:
    married = only(language, "I'm married.").ending
    assert married is not None and "single" in married.things and "married" not in married.things
    assert only(language, "I'm not single.").ending is None


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


def extracted(language: Language, text: str) -> tuple[Statement, ...]:
    return read_facts(language, text, at=WEDNESDAY).statements


def test_a_pronoun_is_not_guessed(language: Language) -> None:
    found = extracted(language, "My sister met my aunt, she works at Nokia.")
    assert not any("Nokia" in one.text for one in found)


@scored("text", CASES["unreal_events_and_lost_possessions_are_no_facts"], floor=1.0)
def test_unreal_events_and_lost_possessions_are_no_facts(language: Language, text: str) -> None:
    assert not [
        one
        for one in extracted(language, text)
        if one.relation == "has" or "Spain" in one.text or "keys" in one.text
    ]


def test_offsets_of_expanded_contractions_are_those_of_the_turn(language: Language) -> None:
    text = "My sister's a vet and my brother's just moved to Leipzig."
    spans = {one.text: text[one.start : one.stop] for one in extracted(language, text)}
    assert spans["Ana's sister is a vet."].startswith("My sister") and spans[
        "Ana's sister is a vet."
    ].endswith("a vet")
    assert next(words for fact, words in spans.items() if "Leipzig" in fact).endswith("Leipzig")


@scored(("text", "thing"), CASES["a_termination_names_what_has_ended"], floor=1.0)
def test_a_termination_names_what_has_ended(language: Language, text: str, thing: str) -> None:
    statement = only(language, text)
    assert (
        statement.negated and statement.ending is not None and statement.ending.things == (thing,)
    )


def test_an_admitted_mistake_corrects_the_relation(language: Language) -> None:
    (correction,) = read(language, "I said something silly, she's from Latvia.").corrections
    assert (correction.wrong, correction.right, correction.relation) == ("", "Latvia", "is from")


@scored(
    "text",
    ["I left the bakery at five.", "I stopped at the bakery.", "I left my bike at home."],
    floor=1.0,
)
def test_leaving_a_place_for_the_day_ends_nothing(language: Language, text: str) -> None:
    assert not any(one.ending for one in read(language, text).statements)


def test_a_divorce_ends_a_marriage_whose_name_is_not_said(language: Language) -> None:
    ended = [
        one
        for one in read(language, "I got divorced last year.").statements
        if one.relation == "is married to"
    ]
    assert [(one.object, one.negated, one.single) for one in ended] == [("", True, True)]
