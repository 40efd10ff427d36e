"""The text of a block: dates, speakers, marks, and a fence that no statement can close."""

import re
from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from hotmem.block.rendering import (
    CLOSING,
    FIRST_LINE,
    FRAME,
    MAX_TOPICS,
    OPENING,
    Layout,
    render,
    render_line,
    render_nothing_known,
)
from hotmem.models import TokenCounter
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
        said_at=START + timedelta(days=1),
    )
    doubtful = replace(QUOTE, text="Perhaps at ten.", mark=Mark.LOW, speaker=None)
    assert render([QUOTE, later, doubtful, OVERVIEW, FACT], LAYOUT).split("\n") == [
        FIRST_LINE,
        '2 March Ana: "The ferry leaves at nine." (high)',
        '3 March Ben: "It was late." (medium)',
        '2 March User: "Perhaps at ten."',
        "2 March summary: About: ferries. (high)",
        "2 March noted: Ana lives in Lisbon. (high)",
        CLOSING,
    ]


def test_the_fixed_text_is_short(tokens: TokenCounter) -> None:
    assert tokens.count(FRAME) <= 12


def test_a_former_fact_has_its_end_date() -> None:
    assert "until 4 March)" in render_line(
        replace(FACT, valid_until=START + timedelta(days=2)), LAYOUT
    )


def test_a_date_of_another_year_has_its_year() -> None:
    assert "2 March 2026 Ana:" in render([QUOTE], Layout(2027))
    assert "2026" not in render_line(FACT, LAYOUT)


def test_marks_as_symbols() -> None:
    assert "🟢" in render_line(QUOTE, SYMBOLIC) and "🟡" in render_line(
        replace(QUOTE, mark=Mark.MEDIUM), SYMBOLIC
    )
    assert "🔴" in render_line(replace(QUOTE, mark=Mark.LOW), SYMBOLIC)
    assert "high" not in render([QUOTE], SYMBOLIC)


def test_no_items_render_no_text() -> None:
    assert render([], LAYOUT) == ""


@given(st.lists(st.tuples(hostile, hostile, st.sampled_from(EvidenceKind)), min_size=1, max_size=6))
def test_no_text_breaks_the_structure_of_a_block(
    told: list[tuple[str, str, EvidenceKind]],
) -> None:
    items = [
        replace(QUOTE, text=escape_for_prompt(text), speaker=speaker or None, kind=kind)
        for text, speaker, kind in told
    ]
    text = render(items, LAYOUT)
    assert text.count(OPENING) == text.count(CLOSING) == 1 and text.endswith(CLOSING)
    foreign = re.sub("2 March User: ", "", text, flags=re.IGNORECASE)
    assert not control_tokens(foreign) and not invisible(text.replace("\n", ""))
    assert len(text.split("\n")) == len(text.splitlines()) == 2 + len(items), (
        "each item on one line"
    )
    marks = [one.mark.value for one in items if one.mark is not Mark.LOW]
    assert len(re.findall(r" \((?:high|medium|low)\b", text)) == len(marks), "no mark but ours"
    starts = ("2 March ", "<")
    assert all(row.startswith(starts) for row in text.split("\n"))


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
    assert "about this" in render_nothing_known([])
