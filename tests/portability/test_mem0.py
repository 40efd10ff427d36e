"""Import of mem0 exports in all their layouts."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hotmem import InvalidInput
from hotmem.models import CachedEncoder, Language
from hotmem.portability import UserMapping, classify
from hotmem.portability.messages import ForeignMemory, ImportNotes, memories
from hotmem.types import Category, MemoryRecord
from tests.tables import tables

CASES = tables(__file__)

CHANGED = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
HOSTED = CASES["hosted"]
OPEN_SOURCE = CASES["open_source"]
OPEN_MEMORY: dict[str, object] = CASES["open_memory"]


ANA = UserMapping("ana")


def read(
    path: Path, text: str, users: UserMapping = ANA
) -> tuple[list[ForeignMemory], ImportNotes]:
    file = path / "mem0.json"
    file.write_text(text, encoding="utf-8")
    notes = ImportNotes()
    return list(memories(file, users, CHANGED, notes)), notes


ALL = [HOSTED, OPEN_SOURCE, OPEN_MEMORY]


@pytest.mark.parametrize(
    "layout",
    [
        json.dumps(ALL),
        json.dumps(
            {
                "count": 3,
                "next": None,
                "previous": None,
                "results": ALL,
                "relations": [{"source": "ana", "target": "boat"}],
            }
        ),
        json.dumps({"memories": ALL}),
        "\n".join(map(json.dumps, ALL)),
    ],
)
def test_every_layout(tmp_path: Path, layout: str) -> None:
    (hosted, own, boat), notes = read(tmp_path, layout)
    assert (hosted.id, hosted.text, hosted.categories) == (
        "0a1b",
        "Vegetarian since childhood",
        ("food", "personal_details", "diet"),
    )
    assert hosted.stored_at == datetime(2025, 3, 19, 16, 9, 0, 146390, tzinfo=UTC)
    assert hosted.said_at == datetime(2025, 4, 1, 10, tzinfo=UTC)
    assert (
        hosted.expires_at == datetime(2027, 1, 1, tzinfo=UTC)
        and hosted.note == "source: onboarding"
    )
    assert (
        own.said_at == own.stored_at == datetime(2025, 3, 19, 9, 9, tzinfo=UTC)
        and own.user_id == "ana"
        and own.expires_at is None
    )
    assert (boat.text, boat.categories, boat.note, boat.said_at) == (
        "Has a boat",
        (),
        None,
        CHANGED,
    )
    assert notes.undated == 1


def test_inactive_and_foreign_records_are_skipped_and_counted(tmp_path: Path) -> None:
    records = [
        HOSTED,
        HOSTED | {"user_id": "ben"},
        OPEN_MEMORY | {"user_id": "ana", "state": "deleted"},
        HOSTED | {"id": "x", "memory": " "},
    ]
    found, notes = read(tmp_path, json.dumps(records), UserMapping("anna", "ana"))
    assert [(one.id, one.user_id) for one in found] == [("0a1b", "anna")]
    assert notes.skipped == {"of other users": 1, "deleted": 1, "without text": 1}


@pytest.mark.parametrize(
    ("record", "users", "error"),
    [
        (
            HOSTED | {"user_id": "ben"},
            UserMapping("ana"),
            "Record 1: user_id is 'ben'. Only records of 'ana'",
        ),
        (OPEN_SOURCE, UserMapping(), "Record 1 has no user_id"),
        ({"memory": "Hi."}, UserMapping("ana"), "Record 1 has no id"),
        ({"id": "1"}, UserMapping("ana"), "Record 1 has no memory"),
        (
            HOSTED | {"memory": 7.5},
            UserMapping("ana"),
            "memory is 7.5. Input should be a valid string",
        ),
        (HOSTED | {"created_at": "yesterday"}, UserMapping("ana"), "created_at is 'yesterday'"),
        (HOSTED | {"categories": "food"}, UserMapping("ana"), "categories is 'food'"),
        (
            HOSTED | {"state": "gone"},
            UserMapping("ana"),
            "'active', 'paused', 'archived' or 'deleted'",
        ),
        ("Hi.", UserMapping("ana"), "Record 1 is not an object"),
        (HOSTED | {"memory": "x" * 6000}, UserMapping("ana"), "memory has 6,000 characters"),
    ],
)
def test_an_invalid_record_is_named(
    tmp_path: Path, record: object, users: UserMapping, error: str
) -> None:
    with pytest.raises(InvalidInput, match=error):
        read(tmp_path, json.dumps([record]), users)


def test_foreign_categories_are_mapped_and_kept_as_tags(
    encoder: CachedEncoder, language: Language
) -> None:
    def known(name: str, text: str, *categories: str) -> ForeignMemory:
        return ForeignMemory(name, "ana", text, categories, CHANGED, CHANGED)

    notes = ImportNotes()
    given = [
        known("1", "The deposit is due on Friday.", "tasks"),
        known("2", "Remember to call the plumber tomorrow morning.", "home_improvement"),
        known("3", "Blue.", "misc"),
        known("4", "Always answer me in short sentences."),
    ]
    found = [of.record for of in classify.classify_memories(given, encoder, language, notes)]
    assert all(isinstance(one, MemoryRecord) for one in found)
    reminder, plumber, blue, rule = (one for one in found if isinstance(one, MemoryRecord))
    assert (reminder.category, reminder.tags, reminder.source, reminder.object) == (
        Category.REMINDERS,
        ("tasks",),
        "mem0",
        reminder.text,
    )
    assert plumber.category is Category.REMINDERS and plumber.tags == ("home improvement",)
    assert rule.category is Category.SYSTEM and rule.tags == ()
    assert notes.categories["tasks"] == {Category.REMINDERS: 1} and notes.unsure["tasks"] == 0
    assert notes.unsure["misc"] == 1 and notes.unsure_ids == ["3"] and blue.tags == ("misc",)
