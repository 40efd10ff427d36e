"""What `make test` leaves out is named in one place, and is run where a change needs it."""

import re
from pathlib import Path

import pytest

from tests.parts import PARTS, ROOT, needed, part_of

MARKED = re.compile(r"mark\.part\(\"(\w+)\"\)")


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_what_a_part_names_is_there(part: object) -> None:
    paths = [*part.touched, *part.files]  # type: ignore[attr-defined]
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert [path for path in paths if (ROOT / path).is_dir() != path.endswith("/")] == []


def test_tests_are_marked_with_parts_that_there_are() -> None:
    named = {
        name
        for path in (ROOT / "tests").rglob("*.py")
        if path != Path(__file__)
        for name in MARKED.findall(path.read_text("utf-8"))
    }
    assert named and named <= PARTS.keys()
    assert {name for name, part in PARTS.items() if not part.files} - named <= {"browser"}


def test_a_change_needs_the_parts_that_alone_cover_it() -> None:
    assert needed({"eval/rows.py"}) == ["evaluation"]
    assert needed({"pyproject.toml", "CHANGELOG.md"}) == ["wheel"]
    assert needed({"hotmem/storage/spool.py"}) == ["attacks", "engines", "model_calls"]
    assert needed({"CHANGELOG.md", "hotmem/block/packing.py"}) == []


def test_a_file_belongs_to_its_part() -> None:
    assert part_of(ROOT / "tests/attacks/test_names.py") == "attacks"
    assert part_of(ROOT / "tests/test_memory.py") is None
