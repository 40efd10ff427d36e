"""Session summaries."""

from datetime import UTC, datetime, timedelta
from time import perf_counter

import numpy as np
import pytest

from hotmem.consolidation.summary import (
    MAX_SENTENCES,
    MAX_TOPICS,
    MAX_WORDS,
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


def test_narrative_is_verbatim(language: Language, encoder: CachedEncoder) -> None:
    summary = summarised(SPOKEN, language, encoder)
    texts = {f"t{at}": text for at, (_, text) in enumerate(SPOKEN)}
    assert 0 < len(summary.narrative) <= MAX_SENTENCES
    for sentence in (*summary.narrative, *summary.decisions, *summary.open_loops):
        assert sentence.text in texts[sentence.turn_id]
        assert len(sentence.text.split()) <= MAX_WORDS
    places = [int(sentence.turn_id[1:]) for sentence in summary.narrative]
    assert places == sorted(places)


def test_topics(language: Language, encoder: CachedEncoder) -> None:
    topics = summarised(SPOKEN, language, encoder).topics
    assert len(topics) <= MAX_TOPICS
    assert "Rui" in topics
    assert any("kitchen" in topic for topic in topics)


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


def test_duration_for_thirty_turns(language: Language, encoder: CachedEncoder) -> None:
    turns = session((SPOKEN * 3)[:30])
    docs, vectors = (
        language.parse([turn.text for turn in turns]),
        encoder.encode([turn.text for turn in turns]),
    )
    times = []
    for _ in range(10):
        start = perf_counter()
        summarise(turns, docs, vectors)
        times.append(perf_counter() - start)
    assert min(times) < 0.02
