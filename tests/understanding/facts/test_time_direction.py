"""Which times of a statement are still to come: the perfect and the past tell of plans too."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hotmem.models import Language
from hotmem.types import Role
from hotmem.understanding.facts import extract_facts

PLANS = json.loads(Path(__file__).with_name("plans.json").read_text("utf-8"))


def read(text: str, said_at: datetime, language: Language) -> list[str]:
    """The days, from that of the statement on, on which something is said to take place."""
    doc = language.parse([text])[0]
    told = extract_facts(doc, lambda words: language.parse([words])[0], "Ana", Role.USER, said_at)
    return sorted(
        {
            day
            for one in told.event_times
            if (day := f"{one.interval.start:%Y-%m-%d}") >= f"{said_at:%Y-%m-%d}"
        }
    )


@pytest.mark.parametrize("case", PLANS, ids=lambda case: case["text"])
def test_what_is_to_come(case: dict[str, str | None], language: Language) -> None:
    said_at = datetime.fromisoformat(str(case["said_at"])).replace(tzinfo=UTC)
    assert read(str(case["text"]), said_at, language) == (
        [case["starts"]] if case["starts"] else []
    )


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I've booked a table for Friday.", "Ana has booked a table on 2026-11-27 (Friday)."),
        ("I saw the dentist on Friday.", "Ana saw the dentist on 2026-11-20 (Friday)."),
        ("They put the exam off until Friday.", "The exam is on 2026-11-27 (Friday)."),
    ],
)
def test_facts_have_the_same_day(text: str, fact: str, language: Language) -> None:
    doc = language.parse([text])[0]
    told = extract_facts(
        doc,
        lambda words: language.parse([words])[0],
        "Ana",
        Role.USER,
        datetime(2026, 11, 23, 10, tzinfo=UTC),
    )
    assert [one.text for one in told.statements] == [fact]
