"""Session summaries."""

import re
from datetime import UTC, datetime, timedelta
from time import thread_time

import numpy as np
import pytest

from hotmem.consolidation.reported_speech import MAX_WORDS, is_question, report
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
from hotmem.understanding.mentioned_people import find_antecedents
from tests.tables import tables

CASES = tables(__file__)

START = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)

SPOKEN = [(Role(role), text) for role, text in CASES["spoken"]]


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


@pytest.mark.parametrize(("before", "said", "reported"), CASES["sentences_are_reported"])
def test_sentences_are_reported(
    language: Language, before: list[str], said: str, reported: str
) -> None:
    docs = language.parse([*before, said])
    speakers = ["Ana"] * len(docs)
    (sent,) = docs[-1].sents
    antecedents = find_antecedents(sent, len(before), docs, speakers)
    found = report(sent, "Ana", None, antecedents, advises=False)
    assert found.text == reported
    assert found.complete is not reported.startswith(("She", "No fracture", "Never"))


@pytest.mark.parametrize(("said", "asks"), CASES["questions_need_no_question_mark"])
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


@pytest.mark.parametrize(("said", "is_open"), CASES["opinions_and_declined_reminders_are_not_open"])
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
