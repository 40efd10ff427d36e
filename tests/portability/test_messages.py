"""Import of chat messages."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hotmem import InvalidInput, Turn
from hotmem.portability.messages import ConversationOptions, ImportNotes, turns
from tests.tables import tables

CASES = tables(__file__)

CHANGED = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
SAID = CASES["said"]


def read(path: Path, text: str) -> tuple[list[Turn], ImportNotes]:
    file = path / "chat.json"
    file.write_text(text, encoding="utf-8")
    notes = ImportNotes()
    return list(
        turns(file, ConversationOptions("ana", "chat", frozenset(), UTC, CHANGED), notes)
    ), notes


@pytest.mark.parametrize(
    "layout", [json.dumps(SAID), json.dumps({"messages": SAID}), "\n".join(map(json.dumps, SAID))]
)
def test_turns_are_imported_from_every_layout(tmp_path: Path, layout: str) -> None:
    found, notes = read(tmp_path, layout)
    assert [(turn.role, turn.speaker, turn.text) for turn in found] == [
        ("user", "Ana", "I moved to Porto."),
        ("assistant", None, "How is the rain?"),
        ("user", None, "Wet."),
        ("user", None, "Very."),
    ]
    assert found[2].id == "m6" and found[2].spoken_at == datetime(
        2024, 5, 6, 12, 53, 20, tzinfo=UTC
    )
    assert found[3].spoken_at == datetime(2024, 5, 6, 13, 0, tzinfo=UTC)
    assert {turn.session_id for turn in found} == {"chat"}
    assert (
        notes.skipped == {"system messages": 1, "tool messages": 1, "without text": 1}
        and notes.undated == 2
    )


def test_each_list_is_a_conversation(tmp_path: Path) -> None:
    found, _ = read(
        tmp_path,
        "\n".join(
            json.dumps({"messages": [{"role": "user", "content": text}]})
            for text in ("One.", "Two.", "Two.")
        ),
    )
    assert [turn.session_id for turn in found] == ["chat", "chat 2", "chat 3"]
    assert len({turn.id for turn in found}) == 3


@pytest.mark.parametrize(("message", "error"), CASES["an_invalid_message_is_named"])
def test_an_invalid_message_is_named(tmp_path: Path, message: object, error: str) -> None:
    with pytest.raises(InvalidInput, match=error):
        read(tmp_path, json.dumps([message]))
