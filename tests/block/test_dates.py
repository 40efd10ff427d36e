"""The dates of relative time expressions, and the lines that show them."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.block.dates import MAX_DATES, format_dates, resolve_dates, without_days
from hotmem.block.packing import pack
from hotmem.block.rendering import Layout, render_line
from hotmem.models import TokenCounter
from hotmem.options import RecallOptions
from hotmem.ranking.neighbors import deduplicate
from hotmem.ranking.relevance import Answerability
from hotmem.types import Evidence, EvidenceKind, Interval, TimedWords
from tests.conversation import START
from tests.ranking.statements import evidence, query, ranked
from tests.tables import tables

CASES = tables(__file__)

MIDNIGHT = START.replace(hour=0)


def saying(text: str, *times: tuple[str, int, int], said_at: datetime = START) -> Evidence:
    """A passage with times.

    Their words, the first day counted from the day it is said on, and how many days.
    """
    named = [
        (words, MIDNIGHT + timedelta(days=first), timedelta(days=days))
        for words, first, days in times
    ]
    return evidence(text, said_at=said_at)._replace(
        times=tuple(
            TimedWords(words, Interval(start, start + length)) for words, start, length in named
        )
    )


@pytest.mark.parametrize(("first", "last", "text"), CASES["format_dates"])
def test_format_dates(first: str, last: str, text: str) -> None:
    assert format_dates(date.fromisoformat(first), date.fromisoformat(last), 2026) == text


def test_a_fact_beside_a_quote_has_no_uncertain_day() -> None:
    fact, day = "Kira is coming on 2026-03-10 (Tuesday).", date(2026, 3, 10)
    assert without_days(fact, [(day, day)]) == "Kira is coming on Tuesday."
    assert without_days(fact, []) == ""


def test_only_relative_times_are_resolved() -> None:
    def days(found: Evidence, text: str | None = None) -> Sequence[tuple[date, date]]:
        return resolve_dates(found, text or found.text, None)

    assert days(saying("I fly tomorrow.", ("tomorrow", 1, 1))) == (
        (date(2026, 3, 3), date(2026, 3, 3)),
    )
    assert days(saying("I fly next week.", ("next week", 7, 7))) == (
        (date(2026, 3, 9), date(2026, 3, 15)),
    )
    assert not days(saying("I fly on 9 March.", ("on 9 March", 7, 1)))
    assert not days(saying("I fly on 2026-03-09.", ("on 2026-03-09", 7, 1)))
    assert not days(saying("I fly in a few days.", ("in a few days", 3, 1)))
    assert not days(saying("I have flown since Monday.", ("since Monday", -7, 8)))
    assert not days(saying("I flew today.", ("today", 0, 1))), "the day stands above the line"
    assert not days(saying("Choir is on Friday evenings.", ("on Friday", 4, 1))), "a rhythm"
    assert not days(saying("It's on the 3rd.", ("on the 3rd", 1, 1))), "of which month?"
    assert not days(saying("Sue's in York.", ("Sue's in York.", 7, 1))), "the day of a question"
    assert not days(saying("I fly tomorrow. Bye.", ("tomorrow", 1, 1)), "… Bye."), "cut away"
    times = ("Tomorrow", 1, 1), ("on Friday", 4, 1), ("on Sunday", 6, 1)
    many = saying("Tomorrow, on Friday, on Sunday.", *times)
    assert len(days(many)) == MAX_DATES


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Asia/Tokyo", None])
def test_a_day_of_another_time_zone_is_the_same_day(zone: str | None) -> None:
    """A day that was named in Berlin is the same date for who reads it elsewhere."""
    start = datetime(2026, 3, 9, 23, tzinfo=UTC)
    found = evidence("I fly tomorrow.")._replace(
        times=(TimedWords("tomorrow", Interval(start, start + timedelta(days=1))),)
    )
    assert resolve_dates(found, found.text, zone) == ((date(2026, 3, 10), date(2026, 3, 10)),)


def test_the_date_is_in_the_line_of_a_quote(tokens: TokenCounter) -> None:
    told = saying("I'm flying to Oslo tomorrow.", ("tomorrow", 1, 1))
    packed = pack(
        query(), ranked([(told, 0.5)]), Answerability.SOMETHING, 1000, tokens.count, RecallOptions()
    )
    assert '2 March Ana: "I\'m flying to Oslo tomorrow." (medium, on 3 March)' in packed.text.split(
        "\n"
    )
    fact = told._replace(
        kind=EvidenceKind.MEMORY, memory_id="m1", text="Ana is flying to Oslo on 2026-03-03."
    )
    packed = pack(
        query(), ranked([(fact, 0.5)]), Answerability.SOMETHING, 1000, tokens.count, RecallOptions()
    )
    assert "on 3 March" not in packed.text


def test_the_same_words_about_two_days_are_not_merged() -> None:
    first = saying("I see the dentist tomorrow.", ("tomorrow", 1, 1))
    second = saying("I see the dentist tomorrow.", ("tomorrow", 9, 1))._replace(
        key=2, turns=(2,), turn_ids=("t2",)
    )
    again = saying("I see the dentist tomorrow.", ("tomorrow", 9, 1))._replace(
        key=3, turns=(3,), turn_ids=("t3",)
    )
    kept, merged = deduplicate(ranked([(first, 0.9), (second, 0.8), (again, 0.7)]))
    assert ([one.evidence.key for one in kept], merged) == ([1, 2], 1)


WORDS = ("tomorrow", "next Friday", "in two weeks", "last month", "on the 9th", "yesterday")
spans = st.tuples(
    st.sampled_from(WORDS), st.integers(-400, 400), st.sampled_from([1, 2, 7, 30, 365])
)


@settings(max_examples=150)
@given(
    drawn=st.lists(
        st.tuples(st.text(max_size=60), st.lists(spans, max_size=4)), min_size=1, max_size=12
    ),
    budget=st.integers(1, 600),
)
def test_dates_respect_the_budget_and_the_text(
    tokens: TokenCounter, drawn: list[tuple[str, list[tuple[str, int, int]]]], budget: int
) -> None:
    told = [
        (
            saying(f"{text} {number} {' '.join(words for words, _, _ in times)}", *times)._replace(
                key=number, turns=(number,), turn_ids=(f"t{number}",)
            ),
            0.5,
        )
        for number, (text, times) in enumerate(drawn, 1)
    ]
    packed = pack(
        query(), ranked(told), Answerability.SOMETHING, budget, tokens.count, RecallOptions()
    )
    assert packed.tokens == tokens.count(packed.text) <= budget
    layout = Layout(query().at.year)
    for item in packed.items:
        assert item.text in packed.text and render_line(item, layout) in packed.text.split("\n")
