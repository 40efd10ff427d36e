"""Import of transcripts in the layouts of people and messengers."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem import InvalidInput, Turn
from hotmem.portability.importer import FileFormat, detect_format
from hotmem.portability.messages import ConversationOptions, ImportNotes
from hotmem.portability.transcript import turns
from tests.tables import tables

CASES = tables(__file__)

CHANGED = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)


def read(
    path: Path, text: str, *, zone: str = "UTC", day_first: bool | None = None
) -> tuple[list[Turn], ImportNotes]:
    file = path / "chat.txt"
    file.write_text(text, encoding="utf-8")
    notes = ImportNotes()
    talk = ConversationOptions(
        "ana", "chat", frozenset({"bot"}), ZoneInfo(zone), CHANGED, day_first
    )
    return list(turns(file, talk, notes)), notes


def summarised(found: list[Turn]) -> list[tuple[str | None, str, str]]:
    return [
        (turn.speaker, f"{turn.spoken_at.astimezone(UTC):%Y-%m-%d %H:%M}", turn.text)
        for turn in found
    ]


@pytest.mark.parametrize(("text", "expected"), CASES["layouts"])
def test_layouts(tmp_path: Path, text: str, expected: list[list[str]]) -> None:
    found, _ = read(tmp_path, text)
    assert list(map(list, summarised(found))) == expected
    assert [turn.role for turn in found] == [
        "assistant" if turn.speaker == "Bot" else "user" for turn in found
    ]
    assert detect_format(tmp_path / "chat.txt") is FileFormat.TRANSCRIPT


def test_a_time_without_zone_is_in_the_given_zone(tmp_path: Path) -> None:
    found, _ = read(tmp_path, "2024-07-06 09:06 Ana: Hi.", zone="Europe/Lisbon")
    assert found[0].spoken_at == datetime(2024, 7, 6, 8, 6, tzinfo=UTC)


def test_a_long_pause_starts_a_session(tmp_path: Path) -> None:
    found, _ = read(
        tmp_path,
        "2024-05-06 09:00 Ana: One.\n2024-05-06 12:59 Ana: Two.\n2024-05-06 17:00 Ana: Three.",
    )
    assert [turn.session_id for turn in found] == [
        "chat 2024-05-06 09:00",
        "chat 2024-05-06 09:00",
        "chat 2024-05-06 17:00",
    ]


@pytest.mark.parametrize(("text", "given", "month", "unsure"), CASES["the_order_of_day_and_month"])
def test_the_order_of_day_and_month(
    tmp_path: Path, text: str, given: bool | None, month: int, unsure: int
) -> None:
    found, notes = read(tmp_path, text, day_first=given)
    assert found[0].spoken_at.month == month and len(notes.warnings) == unsure


def test_lines_without_a_speaker_are_counted(tmp_path: Path) -> None:
    text = (
        "Chat of Monday\n25/06/24, 21:07 - Ana: Hi.\n25/06/24, 21:08 - Messages are encrypted\n"
        "25/06/24, 21:09 - Bot: Yes."
    )
    found, notes = read(tmp_path, text)
    assert [turn.text for turn in found] == ["Hi.", "Yes."] and notes.skipped == {
        "lines without a speaker": 2
    }


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("2024-13-45 09:00 Ana: Hi.", "Line 1: '2024-13-45 09:00' is not a time"),
        ("Ana: Hi.\nBot: \x00\x01", "Line 2 is invalid: text is empty"),
    ],
)
def test_an_invalid_turn_is_named(tmp_path: Path, text: str, error: str) -> None:
    with pytest.raises(InvalidInput, match=error):
        read(tmp_path, text)


names = st.sampled_from(["Ana", "Bot", "Zoë", "Mr. O'Neil", "José-Luis"])
words = st.text(st.characters(categories=("L", "N", "P")), min_size=1, max_size=30).map(
    lambda text: f"w{text}"
)


@settings(max_examples=60)
@given(st.lists(st.tuples(names, words), min_size=1, max_size=8), st.integers(0, 7))
def test_written_turns_are_read(tmp_path: Path, said: list[tuple[str, str]], more: int) -> None:
    lines = [
        f"[{CHANGED + timedelta(minutes=place):%Y-%m-%d %H:%M}] {name}: {text}"
        for place, (name, text) in enumerate(said)
    ]
    found, _ = read(tmp_path, "\n".join(lines))
    assert [(turn.speaker, turn.text) for turn in found] == said
    assert len({turn.id for turn in found}) == len(said)
    grown, _ = read(
        tmp_path,
        "\n".join([*lines, *(f"[2026-02-0{day + 1} 10:00] Ana: More." for day in range(more))]),
    )
    assert grown[: len(found)] == found


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"chat\.txt not found"):
        detect_format(tmp_path / "chat.txt")
