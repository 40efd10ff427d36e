"""Requested time windows and days, alone and in a memory of ten sessions."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest

from hotmem import ContextBlock, Memory
from hotmem.models import CachedEncoder, Language
from hotmem.ranking.time_relevance import UNDATED_FIT, promote_day, promote_window, window_fit
from hotmem.retrieval.requested_window import MAX_SEARCHED, requested_window, searchable_window
from hotmem.types import (
    AnswerType,
    Evidence,
    EvidenceKind,
    Intent,
    Interval,
    Item,
    Query,
    Role,
    Source,
    TimedWords,
    Turn,
)
from hotmem.understanding.query.analyzer import analyse
from tests.conversation import OpenMemory
from tests.ranking.statements import NOW, evidence, query, ranked
from tests.tables import tables

CASES = tables(__file__)

DATA: Final[dict[str, Any]] = tables(__file__, "windows")
"""Ten sessions of six weeks and questions with windows on them, written before the code; an
answer is any of the turns that hold the words."""

ZONE: Final = ZoneInfo(DATA["zone"])
ASKED_AT: Final = datetime.fromisoformat(DATA["asked_at"]).replace(tzinfo=ZONE)

TODAY: Final = NOW.replace(hour=0, minute=0)
DAY: Final = timedelta(days=1)
LAST_WEEK: Final = Interval(TODAY - 7 * DAY, TODAY)
TOMORROW: Final = Interval(TODAY + DAY, TODAY + 2 * DAY)


def asks(
    text: str,
    window: Interval | None,
    *terms: str,
    question: bool = True,
    intent: Intent = Intent.FACT,
) -> Query:
    """A question with this window and these content words."""
    base = query(text)
    return replace(
        base,
        analysis=replace(base.analysis, time=window, terms=terms, question=question, intent=intent),
    )


def told_of(
    text: str,
    start: datetime,
    days: int = 1,
    *,
    key: int = 1,
    said_at: datetime = NOW - 30 * DAY,
    words: str = "tomorrow",
) -> Evidence:
    """A passage that names the days from `start`."""
    return evidence(text, key=key, said_at=said_at)._replace(
        times=(TimedWords(words, Interval(start, start + days * DAY)),)
    )


@pytest.mark.parametrize(("text", "terms"), CASES["a_question_without_a_subject_requests_a_window"])
def test_a_question_without_a_subject_requests_a_window(text: str, terms: list[str]) -> None:
    assert requested_window(asks(text, LAST_WEEK, *terms)) == LAST_WEEK


def test_subjects_long_windows_and_statements_request_none() -> None:
    assert (
        requested_window(
            asks("When did Clara visit last week?", LAST_WEEK, "clara", "visit", "week")
        )
        is None
    )
    assert (
        requested_window(
            asks("What did I do last year?", Interval(TODAY - 365 * DAY, TODAY), "year")
        )
        is None
    )
    assert (
        requested_window(asks("I will do it tomorrow.", TOMORROW, "tomorrow", question=False))
        is None
    )
    assert requested_window(asks("What did I do?", None)) is None
    assert (
        requested_window(
            asks(
                "Recap last week.",
                LAST_WEEK,
                "recap",
                "week",
                question=False,
                intent=Intent.SUMMARY,
            )
        )
        == LAST_WEEK
    )


def test_a_long_window_is_not_searchable() -> None:
    for width, found in ((MAX_SEARCHED, True), (MAX_SEARCHED + DAY, False)):
        window = Interval(TODAY - width, TODAY)
        assert (searchable_window(asks("What?", window).analysis) == window) is found
    assert searchable_window(asks("What?", None).analysis) is None


def test_questions_about_events_fit_by_named_times() -> None:
    inside, outside = NOW - 3 * DAY, NOW - 30 * DAY
    statements = [
        told_of("I saw Rui.", LAST_WEEK.start + DAY, said_at=outside),
        told_of("I saw Rui.", LAST_WEEK.start - 14 * DAY, 28, said_at=outside),
        evidence("I saw Rui.", said_at=inside),
        told_of("I will see Rui.", TODAY + 20 * DAY, said_at=inside),
        evidence("I saw Rui.", said_at=outside),
        evidence("Did I see Rui?", said_at=inside)._replace(answer_types=int(AnswerType.QUESTION)),
        evidence("You saw Rui.", said_at=inside)._replace(role=Role.ASSISTANT),
    ]
    exact, coarse, undated, other, nowhere, question, reply = window_fit(
        asks("What did I do last week?", LAST_WEEK, "week"), statements
    )
    assert exact == 1 > undated > coarse > other > nowhere == 0
    assert question < undated and reply < undated


def test_statements_made_today_do_not_fit_a_future_window() -> None:
    """A question on what is on this week asks for plans, one on what I did also for what was said.

    Neither for notes without a date.
    """
    week = Interval(TODAY - 2 * DAY, TODAY + 5 * DAY)
    statements = [
        evidence("I saw Rui.", said_at=NOW - DAY),
        told_of("I will see Rui.", TODAY + DAY, said_at=NOW - DAY),
        evidence("The alarm code is 4471.", EvidenceKind.MEMORY, said_at=NOW - DAY)._replace(
            speaker=None, turns=(), turn_ids=()
        ),
    ]
    assert statements[2].source is Source.STATEMENT
    assert window_fit(asks("What's on this week?", week, "week"), statements) == [0, 1, 0]
    assert window_fit(asks("What did I do this week?", week, "week"), statements) == [
        UNDATED_FIT,
        1,
        0,
    ]


def test_questions_about_conversations_fit_by_time_of_statement() -> None:
    statements = [
        told_of("I saw Rui.", LAST_WEEK.start + DAY, said_at=NOW - 30 * DAY),
        told_of("I will see Rui.", TODAY + 20 * DAY, said_at=NOW - 3 * DAY),
        evidence("About: Rui.", EvidenceKind.SUMMARY, said_at=NOW - 3 * DAY),
    ]
    assert window_fit(
        asks("What did I tell you last week?", LAST_WEEK, "tell", "week"), statements
    ) == [0, 1, 1]


def test_no_requested_window_fits_nothing() -> None:
    statements = [told_of("I saw Rui.", LAST_WEEK.start)]
    assert window_fit(
        asks("When did I see Rui last week?", LAST_WEEK, "rui", "week"), statements
    ) == [0]


def test_fitting_candidates_precede_all_others_in_their_order() -> None:
    found = ranked(
        [
            (evidence(f"The dog {deed}.", key=key), share)
            for key, (deed, share) in enumerate((("barks", 0.9), ("eats", 0.2), ("runs", 0.1)))
        ]
    )
    ordered = promote_window(found, [0.0, 0.6, 1.0])
    assert [one.evidence.key for one in ordered] == [2, 1, 0]
    assert all(0 <= one.score <= 1 for one in ordered) and [one.in_window for one in ordered] == [
        True,
        True,
        False,
    ]
    assert promote_window(found, [0.1, 0.0, 0.0]) == found
    assert promote_window([], []) == []


def test_the_day_asked_for_precedes_another_day() -> None:
    asked = asks("When does the dog leave tomorrow?", TOMORROW, "dog", "leave")
    other = told_of("The dog leaves tomorrow at nine.", TODAY - 9 * DAY, key=1)
    right = told_of("The dog leaves tomorrow at six.", TOMORROW.start, key=2)
    week = told_of("The dog leaves next week.", TOMORROW.start, 7, key=3)
    off = told_of("The cat eats tomorrow.", TOMORROW.start, key=4)
    statements = [(other, 0.9), (right, 0.5), (week, 0.4), (off, 0.3)]
    assert [one.evidence.key for one in promote_day(asked, ranked(statements))] == [2, 1, 3, 4]
    assert [
        one.evidence.key
        for one in promote_day(
            replace(asked, analysis=replace(asked.analysis, time=None)), ranked(statements)
        )
    ] == [1, 2, 3, 4]


def test_a_resolved_day_is_not_a_search_term() -> None:
    assert asks("Flight tomorrow?", TOMORROW, "flight", "tomorrow").terms == ("flight",)
    assert asks("Tomorrow?", TOMORROW, "tomorrow").terms == ()
    assert asks("Who sang Tomorrow?", None, "sang", "tomorrow").terms == ("sang", "tomorrow")


async def lived(path: Path, encoder: CachedEncoder, language: Language) -> None:
    """Remembers the ten sessions, understood and summarised."""
    async with Memory.open(path, encoder=encoder, language=language) as opened:
        for session in DATA["sessions"]:
            at = datetime.fromisoformat(session["at"]).replace(tzinfo=ZONE)
            for minute, text in enumerate(session["said"]):
                moment = at + timedelta(minutes=minute)
                await opened.remember(
                    Turn("nora", session["at"], "user", text, moment, DATA["speaker"], id=text)
                )
            await opened.end_session(user_id="nora", session_id=session["at"])
        await opened.settle()


@pytest.fixture(scope="module")
def lived_in(
    tmp_path_factory: pytest.TempPathFactory, encoder: CachedEncoder, language: Language
) -> Path:
    """The file of the ten sessions."""
    path = tmp_path_factory.mktemp("windows") / "memory.db"
    asyncio.run(lived(path, encoder, language))
    return path


@pytest.fixture
async def life(lived_in: Path, open_memory: OpenMemory) -> AsyncIterator[Memory]:
    """The memory of the ten sessions."""
    async with open_memory(lived_in) as opened:
        yield opened


async def recalled(
    memory: Memory, question: str, budget: int = 250, at: datetime = ASKED_AT
) -> ContextBlock:
    return await memory.recall(question, user_id="nora", at=at, max_tokens=budget)


def answers(item: Item, words: list[str]) -> bool:
    """Whether an item holds the words, or was read from a turn that does."""
    texts = [item.text] if item.kind is EvidenceKind.SUMMARY else [item.text, *item.turn_ids]
    return any(word.casefold() in text.casefold() for word in words for text in texts)


@pytest.mark.parametrize(("budget", "least"), [(100, 0.93), (250, 0.97)])
async def test_the_fitting_line_is_in_a_small_block(
    life: Memory, budget: int, least: float
) -> None:
    missed = []
    for asked in DATA["questions"]:
        block = await recalled(life, asked["question"], budget)
        assert block.tokens <= budget
        if not any(answers(item, asked["any_of"]) for item in block.items):
            missed.append(asked["question"])
    assert len(DATA["questions"]) >= 60
    assert len(missed) <= (1 - least) * len(DATA["questions"]), missed


async def test_a_requested_week_gives_only_its_summaries(life: Memory) -> None:
    block = await recalled(life, "What did we talk about last week?", 1000)
    told = {item.session_id for item in block.items if item.kind is EvidenceKind.SUMMARY}
    assert told == {"2026-04-06T21:00", "2026-04-09T19:30"}


async def test_a_line_about_a_day_has_its_date(life: Memory) -> None:
    text = (await recalled(life, "what am i doing tomorrow")).text
    assert 'my landlord inspects the balcony." (medium, on 17 April)' in text


async def test_tomorrow_is_in_the_users_time_zone(life: Memory) -> None:
    """Nine in the evening of the 15th in New York is the 16th in Berlin."""
    at = datetime(2026, 4, 15, 21, tzinfo=ZoneInfo("America/New_York"))
    block = await recalled(life, "What am I doing tomorrow?", 64, at)
    assert any("ramen" in item.text or "plumber" in item.text for item in block.items)
    assert not any("balcony" in item.text for item in block.items)


async def test_another_users_day_is_not_found(life: Memory) -> None:
    block = await life.recall("What am I doing tomorrow?", user_id="ben", at=ASKED_AT)
    assert not block.items


async def test_an_empty_window_gives_no_summary(life: Memory) -> None:
    for question in (
        "What did we talk about in January?",
        "What did I do on 3 February 1970?",
        "What am I doing on 1 June 2090?",
    ):
        block = await recalled(life, question, at=ASKED_AT.astimezone(UTC))
        assert all(item.kind is not EvidenceKind.SUMMARY for item in block.items)


@pytest.mark.parametrize(("question", "day"), CASES["a_recognised_question_requests_a_window"])
def test_a_recognised_question_requests_a_window(
    language: Language, question: str, day: str
) -> None:
    doc = language.parse([question], names=False)[0]
    analysis = analyse(doc, datetime(2026, 4, 16, 10, tzinfo=UTC))
    window = requested_window(replace(query(question), analysis=analysis))
    assert window is not None
    assert f"{window.start:%Y-%m-%d}" == day
