"""Session summaries."""

import re
from datetime import UTC, datetime, timedelta
from time import thread_time

import numpy as np
import pytest

from hotmem.consolidation.reported_speech import MAX_WORDS, is_question, report
from hotmem.consolidation.same_subject import find_antecedents
from hotmem.consolidation.summary import (
    MAX_SENTENCES,
    MAX_TITLE_WORDS,
    MAX_TOPICS,
    count_topics,
    render_summary,
    summarise,
)
from hotmem.models import CachedEncoder, Language
from hotmem.types import Role, SessionSummary, Turn

START = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)

SPOKEN = [
    (Role.USER, "Hi, good morning!"),
    (Role.ASSISTANT, "Good morning Ana! How are you?"),
    (
        Role.USER,
        (
            "I have been thinking. The old kitchen is falling apart and we want a new one before "
            "Christmas."
        ),
    ),
    (
        Role.ASSISTANT,
        "A kitchen is a big project. "
        "Consider the layout, the budget, the appliances and the light. "
        "First, measure the room. Second, compare several suppliers. Third, think of storage. "
        "Fourth, plan the wiring. Fifth, ask for references.",
    ),
    (
        Role.USER,
        (
            "Our budget is eight thousand euros and my sister Marta knows a carpenter in Porto "
            "called Rui."
        ),
    ),
    (Role.ASSISTANT, "That sounds wonderful."),
    (Role.USER, "We decided to take oak for the kitchen because Rui works with oak."),
    (Role.USER, "I still have to call Rui about the delivery date of the oak."),
    (Role.ASSISTANT, "I can remind you of that."),
    (Role.USER, "Do you know whether the permit from the city takes long?"),
    (Role.ASSISTANT, "I don't know, sorry."),
    (Role.USER, "Thanks, bye!"),
]


def session(spoken: list[tuple[Role, str]]) -> list[Turn]:
    return [
        Turn("ana", "monday", role, text, START + timedelta(minutes=at), id=f"t{at}")
        for at, (role, text) in enumerate(spoken)
    ]


def summarised(
    spoken: list[tuple[Role, str]], language: Language, encoder: CachedEncoder
) -> SessionSummary:
    turns = session(spoken)
    texts = [turn.text for turn in turns]
    return summarise(turns, language.parse(texts), encoder.encode(texts))


def test_narrative_is_reported_speech(language: Language, encoder: CachedEncoder) -> None:
    summary = summarised(SPOKEN, language, encoder)
    assert 0 < len(summary.narrative) <= MAX_SENTENCES
    sentences = (*summary.narrative, *summary.decisions, *summary.open_loops)
    assert all(len(sentence.text.split()) <= MAX_WORDS for sentence in sentences)
    assert not re.search(r"\b(?:I|me|my|we|our|you|your)\b", render_summary(summary))
    assert {sentence.text for sentence in sentences} >= {
        "The user decided to take oak for the kitchen because Rui works with oak.",
        "The user still has to call Rui about the delivery date of the oak.",
        "The user asks: does the assistant know whether the permit from the city takes long?",
    }
    places = [int(sentence.turn_id[1:]) for sentence in summary.narrative]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("before", "said", "reported"),
    [
        ((), "My mum always said I hate winter.", "Ana's mum always said “I hate winter”."),
        ((), 'My mum said "I am cold" again.', 'Ana\'s mum said "I am cold" again.'),
        ((), "My doctor said I need to rest.", "Ana's doctor said Ana needs to rest."),
        ((), "I'm allergic to walnuts.", "Ana is allergic to walnuts."),
        ((), "Oh well, um, I have bought a red kayak.", "Ana has bought a red kayak."),
        ((), "Thanks, we moved our piano to Porto.", "Ana moved Ana's piano to Porto."),
        ((), "No fracture, only a bruised knee hurts.", "No fracture, only a bruised knee hurts."),
        ((), "Never remind me of the dentist.", "Never remind Ana of the dentist."),
        (
            (),
            "If my coach says no, I'll only run the half marathon.",
            "If Ana's coach says no, Ana will only run the half marathon.",
        ),
        ((), "Got the blue Asics from a shop.", "Ana got the blue Asics from a shop."),
        ((), "Started the new job at the bakery.", "Ana started the new job at the bakery."),
        ((), "I came home and want peppermint tea.", "Ana came home and wants peppermint tea."),
        ((), "I'd like a table for £46.", "Ana would like a table for £46."),
        (
            ("My sister Beth is a nurse.",),
            "She works nights at the hospital.",
            "Ana's sister Beth works nights at the hospital.",
        ),
        (("My boss Paul wrote.",), "He'd like a report.", "Ana's boss Paul would like a report."),
        (
            ("There was an old woman at the bakery.", "I saw my sister too."),
            "She bought poppy rolls.",
            "She bought poppy rolls.",
        ),
        (
            ("My brother plays chess.",),
            "She bought poppy rolls.",
            "She bought poppy rolls.",
        ),
    ],
)
def test_sentences_are_reported(
    language: Language, before: tuple[str, ...], said: str, reported: str
) -> None:
    docs = language.parse([*before, said])
    speakers = ["Ana"] * len(docs)
    (sent,) = docs[-1].sents
    antecedents = find_antecedents(sent, len(before), docs, speakers)
    found = report(sent, "Ana", None, antecedents, advises=False)
    assert found.text == reported
    assert found.complete is not reported.startswith(("She", "No fracture", "Never"))


@pytest.mark.parametrize(
    ("said", "asks"),
    [
        ("should i call the plumber", True),
        ("how much did it cost", True),
        ("who will look after the dog", True),
        ("Do you like it?", True),
        ("when i was in school they did that", False),
        ("do not tell the neighbour", False),
        ("be careful with that", False),
        ("I was at the dentist.", False),
    ],
)
def test_questions_need_no_question_mark(language: Language, said: str, asks: bool) -> None:
    (sent,) = language.parse([said])[0].sents
    assert is_question(sent) is asks


def test_courtesies_of_the_assistant_are_left_out(
    language: Language, encoder: CachedEncoder
) -> None:
    spoken = [
        (Role.USER, "My brother Keith was made foreman at the quarry."),
        (Role.ASSISTANT, "That's lovely news. You must be proud. Let's hope Keith likes it."),
    ]
    summary = summarised(spoken, language, encoder)
    assert [sentence.turn_id for sentence in summary.narrative] == ["t0"]


def test_interjections_are_no_topics(language: Language, encoder: CachedEncoder) -> None:
    spoken = [(Role.USER, "Hahaha. Hiya! The kayak has a hole, lol."), (Role.USER, "Omg. A kayak?")]
    assert {topic.lower() for topic in summarised(spoken, language, encoder).topics} <= {
        "kayak",
        "hole",
    }


def test_topics(language: Language, encoder: CachedEncoder) -> None:
    topics = summarised(SPOKEN, language, encoder).topics
    assert len(topics) <= MAX_TOPICS
    assert "Rui" in topics
    assert any("kitchen" in topic for topic in topics)


def test_forms_of_a_topic_are_one(language: Language) -> None:
    spoken = session([(Role.USER, "My kayak has a hole."), (Role.USER, "We sold two kayaks.")])
    counted = count_topics(zip(spoken, language.parse([one.text for one in spoken]), strict=True))
    assert counted["kayak"].weight == 2


def test_decisions_and_open_loops(language: Language, encoder: CachedEncoder) -> None:
    summary = summarised(SPOKEN, language, encoder)
    assert [sentence.turn_id for sentence in summary.decisions] == ["t6"]
    assert [sentence.turn_id for sentence in summary.open_loops] == ["t7", "t9"]


@pytest.mark.parametrize(
    ("said", "is_open"),
    [
        ("my mum thinks i should become a vegetarian", False),
        ("don't remind me about the gym on thursday", False),
        ("the doctor said i should book a blood test", True),
        ("i think i should call the plumber again", True),
        ("remind me about the gym on thursday", True),
    ],
)
def test_opinions_and_declined_reminders_are_not_open_loops(
    language: Language, encoder: CachedEncoder, said: str, is_open: bool
) -> None:
    assert (
        bool(
            summarised(
                [(Role.USER, said), (Role.ASSISTANT, "All right.")], language, encoder
            ).open_loops
        )
        is is_open
    )


def test_greetings_questions_and_long_answers_do_not_dominate(
    language: Language, encoder: CachedEncoder
) -> None:
    quoted = [sentence.turn_id for sentence in summarised(SPOKEN, language, encoder).narrative]
    assert not {"t0", "t1", "t5", "t9", "t11"} & set(quoted)
    assert quoted.count("t3") <= 1


def test_empty_sessions_and_courtesies_give_empty_summaries(
    language: Language, encoder: CachedEncoder
) -> None:
    assert summarise([], [], np.zeros((0, 384), dtype=np.float32)) == SessionSummary()
    assert (
        render_summary(
            summarised(
                [(Role.USER, "Hello!"), (Role.ASSISTANT, "Hi, how are you?")], language, encoder
            )
        )
        == ""
    )


def test_rendered_summary_has_every_sentence(language: Language, encoder: CachedEncoder) -> None:
    summary = summarised(SPOKEN, language, encoder)
    text = render_summary(summary)
    for sentence in (*summary.narrative, *summary.decisions, *summary.open_loops):
        assert text.count(sentence.text) == 1
    assert all(topic in text for topic in summary.topics)


def test_the_title_is_the_best_short_sentence(language: Language, encoder: CachedEncoder) -> None:
    summary = summarised(SPOKEN, language, encoder)
    assert summary.title is not None
    assert len(summary.title.text.split()) <= MAX_TITLE_WORDS
    assert f"{summary.title.text}." in {sentence.text for sentence in summary.narrative}


def test_a_title_of_a_long_sentence_is_its_beginning(
    language: Language, encoder: CachedEncoder
) -> None:
    long = f"My sister Marta bought {', '.join(['apples', 'pears', 'plums', 'nuts'] * 4)} in Porto."
    summary = summarised([(Role.USER, long)], language, encoder)
    assert summary.title is not None and summary.title.text.endswith(" …")
    assert len(summary.title.text.split()) == MAX_TITLE_WORDS + 1


def test_a_summary_takes_a_quarter_of_parsing(language: Language, encoder: CachedEncoder) -> None:
    vectors = encoder.encode([text for _, text in SPOKEN])
    times = []
    for attempt in range(10):
        turns = session([(role, f"{text} {attempt}") for role, text in SPOKEN])
        start = thread_time()
        docs = language.parse([turn.text for turn in turns])
        parsed = thread_time()
        summarise(turns, docs, vectors)
        times.append((thread_time() - parsed, parsed - start))
    summarising, parsing = (min(column) for column in zip(*times, strict=True))
    assert summarising < parsing / 4
