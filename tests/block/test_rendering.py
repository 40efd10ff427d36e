"""The text of a block: sections, dates, marks, and a fence that no statement can close."""

import re
from dataclasses import replace
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.block.rendering import (
    CLOSING,
    MAX_TOPICS,
    OPENING,
    Layout,
    frame,
    reading_order,
    render,
    render_line,
    render_nothing_known,
)
from hotmem.text.escaping import escape_for_prompt
from hotmem.types import EvidenceKind, Mark
from tests.conversation import START
from tests.hostile import control_tokens, hostile, invisible
from tests.ranking.statements import QUOTE

LAYOUT = Layout(START.year)
SYMBOLIC = Layout(START.year, symbols=True)
FACT = replace(
    QUOTE, kind=EvidenceKind.MEMORY, text="Ana lives in Lisbon.", memory_id="m1", speaker="Ana"
)
OVERVIEW = replace(QUOTE, kind=EvidenceKind.SUMMARY, text="About: ferries.", speaker=None)


def test_a_rendered_block() -> None:
    later = replace(
        QUOTE,
        text="It was late.",
        speaker="Ben",
        mark=Mark.MEDIUM,
        said_at=START + timedelta(minutes=5),
    )
    doubtful = replace(QUOTE, text="Perhaps at ten.", mark=Mark.LOW, speaker=None)
    text = render(reading_order([doubtful, later, OVERVIEW, QUOTE, FACT]), LAYOUT)
    parts = (
        "Ana lives in Lisbon.",
        "About: ferries.",
        "- Perhaps",
        "- Ana: The ferry leaves at nine.",
        "- Ben: It was late.",
    )
    position = [text.index(part) for part in parts]
    assert position == sorted(position)
    lines = text.split("\n")
    assert lines[:2] == [OPENING, LAYOUT.label] and lines[-1] == CLOSING
    assert "(high" in render_line(FACT, LAYOUT) and "2 March)" in render_line(FACT, LAYOUT)
    assert lines.count("2 March:") == 2, "a date stands once for each section's lines of one day"
    assert text.count("(high)") == 2 and text.count("(medium)") == 1 and "(low)" not in text


def test_a_former_fact_has_its_end_date() -> None:
    assert "until 4 March)" in render_line(
        replace(FACT, valid_until=START + timedelta(days=2)), LAYOUT
    )


def test_a_possibly_outdated_statement_has_both_dates() -> None:
    contradicted = START + timedelta(days=64)
    fact = render_line(replace(FACT, doubted_at=contradicted), Layout(2027))
    assert "possibly outdated: said 2 March 2026, contradicted 5 May 2026)" in fact
    quote = render_line(replace(QUOTE, doubted_at=contradicted), LAYOUT)
    assert "possibly outdated: contradicted 5 May)" in quote, "its heading has the other date"


def test_possibly_outdated_facts_are_between_current_and_former_ones() -> None:
    doubted = replace(FACT, text="Ana lives in Porto.", doubted_at=START)
    former = replace(FACT, text="Ana lives in Faro.", valid_until=START)
    current = replace(FACT, relevance=0.1)
    assert reading_order([former, doubted, current]) == [current, doubted, former]


def test_a_date_of_another_year_has_its_year() -> None:
    assert "2 March 2026:" in render([QUOTE], Layout(2027)) and "in 2027." in render(
        [QUOTE], Layout(2027)
    )
    assert "2026" not in render_line(FACT, LAYOUT)


def test_marks_as_symbols() -> None:
    assert "🟢" in render_line(QUOTE, SYMBOLIC) and "🟡" in render_line(
        replace(QUOTE, mark=Mark.MEDIUM), SYMBOLIC
    )
    assert "🔴" in render_line(replace(QUOTE, mark=Mark.LOW), SYMBOLIC)
    assert "high" not in render([QUOTE], SYMBOLIC)


def test_no_items_render_no_text() -> None:
    assert render([], LAYOUT) == ""
    assert frame(LAYOUT).split("\n") == [OPENING, LAYOUT.label, CLOSING]


@settings(deadline=None)
@given(st.lists(st.tuples(hostile, hostile, st.sampled_from(EvidenceKind)), min_size=1, max_size=6))
def test_no_text_breaks_the_structure_of_a_block(
    told: list[tuple[str, str, EvidenceKind]],
) -> None:
    items = [
        replace(QUOTE, text=escape_for_prompt(text), speaker=speaker or None, kind=kind)
        for text, speaker, kind in told
    ]
    text = render(reading_order(items), LAYOUT)
    assert text.count(OPENING) == text.count(CLOSING) == 1 and text.endswith(CLOSING)
    assert not control_tokens(text) and not invisible(text.replace("\n", ""))
    assert len(text.split("\n")) == len(text.splitlines()) <= 2 + 3 * len(items) + 1, (
        "each item on one line"
    )
    marks = [one.mark.value for one in items if one.mark is not Mark.LOW]
    assert len(re.findall(r" \((?:high|medium|low)\b", text)) == len(marks), "no mark but ours"
    starts = ("- ", "2 March", "Facts:", "Background:", "Said:", "<", LAYOUT.label)
    assert all(row.startswith(starts) for row in text.split("\n"))


@settings(deadline=None)
@given(st.lists(hostile, max_size=10))
def test_the_nothing_known_text_is_one_line(topics: list[str]) -> None:
    text = render_nothing_known(topics)
    assert (
        "\n" not in text
        and text.startswith(OPENING)
        and text.endswith(CLOSING)
        and text.count(CLOSING) == 1
    )


def test_the_nothing_known_line_names_the_topics() -> None:
    assert "dog, cello" in render_nothing_known(["dog", "cello"])
    assert "t6" not in render_nothing_known([f"t{number}" for number in range(MAX_TOPICS + 1)])
    assert "about" not in render_nothing_known([])
