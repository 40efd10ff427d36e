"""Event times: when something happened, as opposed to when it was said.

Days are those of the speaker's time zone.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from hotmem import Memory
from hotmem.models import Language
from hotmem.storage.sqlite.connection import connect
from hotmem.types import Interval, Role, Turn
from hotmem.understanding.facts import extract_from_parse
from tests.conversation import OpenMemory, remember
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)

BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")


@pytest.fixture
async def copy(tmp_path: Path, open_memory: OpenMemory) -> AsyncIterator[Memory]:
    """Another, empty memory."""
    async with open_memory(tmp_path / "copy.db") as opened:
        yield opened


def turn(text: str, at: datetime) -> Turn:
    return Turn("ana", at.date().isoformat(), "user", text, at, "Ana", id=text)


@scored(("text", "first", "last"), CASES["the_time_of_an_event_is_resolved"], floor=1.0)
def test_the_time_of_an_event_is_resolved(
    text: str, first: str, last: str, language: Language
) -> None:
    (event,) = extract_from_parse(
        language.parse([text])[0], "Ana", Role.USER, datetime(2026, 11, 18, 12, tzinfo=UTC)
    ).event_times
    assert event.interval == Interval(datetime.fromisoformat(first), datetime.fromisoformat(last))
    assert text[event.start : event.stop].split()[-1].rstrip(".") in {
        "Tuesday",
        "ago",
        "March",
    }


@scored(
    "text",
    CASES["habits_and_open_intervals_have_no_event_time"],
    floor=1.0,
)
def test_habits_and_open_intervals_have_no_event_time(text: str, language: Language) -> None:
    assert not extract_from_parse(
        language.parse([text])[0], "Ana", Role.USER, datetime(2026, 11, 18, 12, tzinfo=UTC)
    ).event_times


async def test_events_are_found_by_their_event_time(memory: Memory) -> None:
    """Two similar events are told in the same minute, months after they happened."""
    at = datetime(2026, 11, 18, 12, tzinfo=UTC)
    await remember(
        memory,
        turn("On May 3rd I had lunch with Rui in the old harbour.", at),
        turn("On June 9th I had lunch with Rui in the old market.", at + timedelta(seconds=9)),
    )
    for question, place in (
        ("Where did I have lunch with Rui in May?", "harbour"),
        ("Where did I have lunch with Rui in June?", "market"),
    ):
        block = await memory.recall(question, user_id="ana", at=at + timedelta(days=9))
        assert place in max(block.items, key=lambda item: item.relevance).text


@pytest.mark.parametrize(
    ("zone", "day"), [(BERLIN, "2026-05-05"), (NEW_YORK, "2026-05-04"), (UTC, "2026-05-04")]
)
async def test_yesterday_is_resolved_in_the_speakers_zone(
    zone: ZoneInfo, day: str, memory: Memory
) -> None:
    """Half past eleven in the evening of the fifth in Iceland is the sixth in Berlin."""
    at = datetime(2026, 5, 5, 23, 30, tzinfo=UTC).astimezone(zone)
    await remember(memory, turn("I bought a boat yesterday.", at))
    assert day in (await memory.memories(user_id="ana"))[0].text


async def test_dates_are_shown_in_the_zone_of_the_query(memory: Memory) -> None:
    at = datetime(2026, 5, 5, 23, 30, tzinfo=UTC)
    await remember(memory, turn("The boat is called Esperança.", at))
    for zone, day in ((UTC, "5 May"), (BERLIN, "6 May")):
        assert (
            day
            in (
                await memory.recall(
                    "What is the boat called?",
                    user_id="ana",
                    at=(at + timedelta(days=3)).astimezone(zone),
                )
            ).text
        )


async def test_an_export_keeps_zones_and_event_times(
    memory: Memory, copy: Memory, tmp_path: Path
) -> None:
    at = datetime(2026, 3, 28, 23, 30, tzinfo=BERLIN)
    await remember(
        memory,
        turn("I had lunch with Rui on May 3rd.", at),
        turn(
            "I will see him tomorrow.",
            at.astimezone(ZoneInfo("Asia/Kathmandu")) + timedelta(minutes=1),
        ),
    )
    path = tmp_path / "ana.jsonl"
    lines = [line async for line in memory.export(user_id="ana")]
    await asyncio.to_thread(path.write_text, "\n".join(lines), "utf-8")
    await copy.import_records(path)
    assert [line async for line in copy.export(user_id="ana")] == lines
    assert '"zone": "Europe/Berlin"' in lines[1] and '"zone": "Asia/Kathmandu"' in lines[2]
    assert "2025-05-02T22:00:00Z" in lines[1]


async def test_forgetting_deletes_event_times(memory: Memory, database: Path) -> None:
    await remember(
        memory, turn("I had lunch with Rui on May 3rd.", datetime(2026, 11, 18, 12, tzinfo=UTC))
    )
    await memory.forget(user_id="ana", entity="Rui")
    await memory.close()
    with connect(database) as conn:
        assert conn.scalar("SELECT count(*) FROM event_times") == 0
