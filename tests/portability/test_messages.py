"""Import of chat messages."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hotmem import InvalidInput, Turn
from hotmem.portability.messages import ConversationOptions, ImportNotes, turns

CHANGED = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
SAID = [
    {"role": "system", "content": "You are kind."},
    {"role": "user", "content": "I moved to Porto.", "name": "Ana"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
    {"role": "tool", "content": "{}"},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "How is"},
            {"type": "image_url"},
            {"type": "text", "text": "the rain?"},
        ],
    },
    {"role": "user", "content": "Wet.", "timestamp": 1_715_000_000, "id": "m6"},
    {"role": "user", "content": "Very.", "created_at": "2024-05-06T13:00:00"},
]


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


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ({"content": "Hi."}, "Message 1 has no role"),
        (
            {"role": "robot", "content": "Hi."},
            "role is 'robot'. Use one of: user, assistant, system",
        ),
        ({"role": "user", "content": 7}, "content is int"),
        ({"role": "user", "content": "Hi.", "at": "yesterday"}, "at is 'yesterday'. Use ISO 8601"),
        ("Hi.", "Message 1 has no role"),
    ],
)
def test_an_invalid_message_is_named(tmp_path: Path, message: object, error: str) -> None:
    with pytest.raises(InvalidInput, match=error):
        read(tmp_path, json.dumps([message]))
