"""Facts extracted from spoken sentences, and sentences without facts."""

from datetime import UTC, datetime

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hotmem.models import Language
from hotmem.types import Category, Correction, Kind, Role, Statement, Understanding
from hotmem.understanding.facts import extract_facts, extract_from_parse
from tests.scored import scored
from tests.thoroughness import examples

WEDNESDAY = datetime(2026, 11, 18, 15, 0, tzinfo=UTC)

SAID = [
    ("My dog is called Potola.", ["Ana's dog is called Potola."]),
    (
        "my dog is called potola and i live in lisbon",
        ["Ana's dog is called Potola.", "Ana lives in lisbon."],
    ),
    ("I have a dog and two cats.", ["Ana has a dog.", "Ana has two cats."]),
    ("I have a dog, his name is Rex.", ["Ana has a dog.", "Ana's dog is called Rex."]),
    ("We have two kids named Tom and Lily", ["Ana has two kids named Tom and Lily."]),
    ("My sister's dog is called Rex.", ["Ana's sister's dog is called Rex."]),
    ("Potola is my dog.", ["Ana's dog is called Potola."]),
    ("My manager is Tom", ["Ana's manager is called Tom."]),
    (
        "My sister Marta works at Siemens in Munich.",
        ["Ana's sister is called Marta.", "Ana's sister Marta works at Siemens in Munich."],
    ),
    ("I think my brother works at Google", ["Perhaps Ana's brother works at Google."]),
    ("I don't work at Siemens any more.", ["Ana does not work at Siemens any more."]),
    ("I don't work there any more.", ["Ana does not work there any more."]),
    ("i work as a teacher", ["Ana works as a teacher."]),
    ("I'm a nurse", ["Ana is a nurse."]),
    (
        "I started a new job at Siemens last month.",
        ["Ana started a new job at Siemens in October 2026."],
    ),
    ("I moved to Berlin in May", ["Ana moved to Berlin in May 2026."]),
    ("I've lived in Rome for five years", ["Ana has lived in Rome for five years."]),
    ("I used to live in Paris", ["Ana used to live in Paris."]),
    ("I'm from Porto", ["Ana is from Porto."]),
    ("Marta lives in Rome", ["Marta lives in Rome."]),
    ("My office is in Berlin", ["Ana's office is in Berlin."]),
    ("I graduated from MIT in 2015", ["Ana graduated from MIT in 2015."]),
    ("My flight is on Tuesday.", ["Ana's flight is on 2026-11-24 (Tuesday)."]),
    ("I have an exam on Monday", ["Ana has an exam on 2026-11-23 (Monday)."]),
    (
        "I've got an interview on Friday at ten",
        ["Ana has got an interview on 2026-11-20 (Friday) at 10:00."],
    ),
    ("my birthday is on the 3rd of May", ["Ana's birthday is on 3 May."]),
    (
        "I'm going to visit my mom next week",
        ["Ana is going to visit Ana's mom in the week of 2026-11-23."],
    ),
    ("We're flying to Rome tomorrow", ["Ana is flying to Rome on 2026-11-19 (Thursday)."]),
    (
        "I need to call the dentist on Friday",
        ["Ana needs to call the dentist on 2026-11-20 (Friday)."],
    ),
    ("I want to learn the guitar", ["Ana wants to learn the guitar."]),
    ("I would love to go to Japan", ["Ana would love to go to Japan."]),
    ("I'm allergic to peanuts", ["Ana is allergic to peanuts."]),
    ("I have asthma", ["Ana has asthma."]),
    ("i'm vegan", ["Ana is vegan."]),
    ("I don't eat meat", ["Ana does not eat meat."]),
    ("I like jazz but I hate techno", ["Ana likes jazz.", "Ana hates techno."]),
    ("i dont like olives", ["Ana does not like olives."]),
    ("I can't stand cilantro", ["Ana cannot stand cilantro."]),
    ("my favourite colour is green", ["Ana's favourite colour is green."]),
    ("I go running every morning", ["Ana goes running every morning."]),
    ("I never drink coffee", ["Ana never drinks coffee."]),
    (
        "I've been learning Portuguese for two years",
        ["Ana has been learning Portuguese for two years."],
    ),
    ("I can play the piano", ["Ana can play the piano."]),
    ("I'm 34 years old", ["Ana is 34 years old."]),
    ("my daughter is five", ["Ana's daughter is five."]),
    (
        "I started playing guitar and piano",
        ["Ana started playing guitar.", "Ana started playing piano."],
    ),
    (
        "We have team dinners, picnics, and long walks.",
        ["Ana has team dinners, picnics, and long walks."],
    ),
    ("I ran a 5K for veterans' rights in May", ["Ana ran a 5K for veterans' rights in May 2026."]),
    ("I bought a house which I painted blue", ["Ana bought a house which Ana painted blue."]),
    (
        "I have details about where I'm going to be staying",
        ["Ana has details about where Ana is going to be staying."],
    ),
    ("I particularly enjoy browsing the web myself", ["Ana particularly enjoys browsing the web."]),
    ("My mom is way too traditional for me, lol", ["Ana's mum is way too traditional for Ana."]),
    ("I broke my leg two years ago", ["Ana broke Ana's leg in 2024."]),
    ("Yesterday, I went to a fair.", ["Ana went to a fair on 2026-11-17 (Tuesday)."]),
    ("I've never been to Japan", ["Ana has never been to Japan."]),
    ("I bake sourdough bread", ["Ana bakes sourdough bread."]),
    ("I jog around the neighbourhood", ["Ana jogs around the neighbourhood."]),
    ("I have tried sailing with my uncle", ["Ana has tried sailing with Ana's uncle."]),
    ("I have a pet cow", ["Ana has a pet cow."]),
    ("I want to be a programmer", ["Ana wants to be a programmer."]),
    ("I live alone", ["Ana lives alone."]),
    ("I love the holidays", ["Ana loves the holidays."]),
    (
        "Always give temperatures in Celsius when I ask about the weather.",
        ["Ana asks: always give temperatures in Celsius when I ask about the weather."],
    ),
    ("I want you to never mention my ex", ["Ana asks: never mention my ex."]),
    ("From now on, answer in German.", ["Ana asks: from now on, answer in German."]),
    ("Don't call me Bob", ["Ana asks: don't call me Bob."]),
    (
        "Whenever I ask about food, remind me of my allergy.",
        ["Ana asks: whenever I ask about food, remind me of my allergy."],
    ),
]

NOTHING = [
    "I wanted to be a nurse",
    "Always fun to see you!",
    "From now on I will run.",
    "Every time I go there I get sick.",
    "Do you like jazz?",
    "what is my dog called",
    "Did I tell you where I live?",
    "If I had a dog I would call it Rex",
    "I would have a cat if I lived in Rome",
    "Imagine I had a boat.",
    "I have an idea",
    "I have a question about that",
    "I love it",
    "I love the idea",
    "I like that one",
    "She said I have a dog",
    "He told me that I live in Rome",
    'Tom said "I live in Paris"',
    "tell my sister I live in Rome",
    "Call the dentist on Friday",
    "I'll call you tomorrow",
    "That's great, thanks!",
    "I'm tired",
    "My day was great.",
    "I don't know",
    "I think so too",
    "My name is not important",
    "I should get a dog",
    "I might move to Berlin",
    "Whether I live in Rome or Paris does not matter",
    "hello there",
    "I admired the nurses I saw there",
    "I don't grow flowers that you would give me",
    "Maybe hit a bar on Friday",
    "Punching the walls.",
]


def read(
    language: Language, text: str, speaker: str | None = "Ana", role: Role = Role.USER
) -> Understanding:
    return extract_from_parse(language.parse([text])[0], speaker, role, WEDNESDAY)


def only(language: Language, text: str) -> Statement:
    (statement,) = read(language, text).statements
    return statement


@scored(("text", "expected"), SAID)
def test_extracts_what_is_stated(language: Language, text: str, expected: list[str]) -> None:
    understanding = read(language, text)
    assert sorted(statement.text for statement in understanding.statements) == sorted(expected)
    for statement in understanding.statements:
        assert (
            text[statement.start : statement.stop].strip()
            == text[statement.start : statement.stop]
            != ""
        )


@scored("text", NOTHING)
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


@scored(
    ("text", "wrong", "right", "relation"),
    [
        ("No, I said Potola, not Paola.", "Paola", "Potola", ""),
        ("it's Potola, not Paola", "Paola", "Potola", ""),
        ("not Paola, Potola", "Paola", "Potola", ""),
        ("No, my dog is called Potola, not Paola.", "Paola", "Potola", "is called"),
        ("no, it's called Potola", "", "Potola", "is called"),
        ("actually it's on Tuesday", "", "2026-11-24 (Tuesday)", "is on"),
        (
            "No, the meeting is on Friday, not Tuesday.",
            "2026-11-24 (Tuesday)",
            "2026-11-20 (Friday)",
            "is on",
        ),
        ("I meant Rome, not Paris.", "Paris", "Rome", ""),
    ],
    floor=0.85,
)
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


@scored(
    "text",
    [
        "That's really fun, not boring",
        "It's not the beach, but it's no forest either.",
        "I said hello to Tom, not to Ana",
        "No, that's fine.",
        "Actually it's great!",
        "Is it Potola, not Paola?",
    ],
    floor=1.0,
)
def test_reads_no_correction_in_remarks(language: Language, text: str) -> None:
    assert read(language, text).corrections == ()


_WORDS = (
    "I my sister Marta have is called not no said a dog and , . ? ! 'm don't live in Berlin "
    "next Tuesday if because that it's "
    "\" … 2023 May 31 works at ' going to want"
)


@settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
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
    return extract_facts(
        language.parse([text])[0],
        lambda meant: language.parse([meant])[0],
        "Ana",
        Role.USER,
        WEDNESDAY,
    ).statements


def test_a_pronoun_is_not_guessed(language: Language) -> None:
    found = extracted(language, "My sister met my aunt, she works at Nokia.")
    assert not any("Nokia" in one.text for one in found)


@scored(
    "text",
    [
        "I almost moved to Spain.",
        "I thought I lost my keys.",
        "If my dog barks I go out.",
        "Where is my dog?",
        "My late husband loved Rome",
        "moved?",
    ],
    floor=1.0,
)
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


@scored(
    ("text", "thing"),
    [
        ("I've given up the choir.", "choir"),
        ("I quit smoking.", "smoking"),
        ("I left Aldi.", "aldi"),
    ],
    floor=1.0,
)
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
