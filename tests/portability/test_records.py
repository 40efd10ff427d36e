"""Streaming reader of JSON records: every layout, and truncated files."""

import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem import InvalidInput
from hotmem.portability.messages import LISTS, read_records

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=8).filter(lambda name: name not in LISTS), inner, max_size=3
        )
    ),
    max_leaves=8,
)
objects = st.dictionaries(
    st.text(max_size=8).filter(lambda name: name not in LISTS), values, max_size=4
)


def read(path: Path, text: str) -> list[object]:
    path.write_text(text, encoding="utf-8")
    return [entry.value for entry in read_records(path)]


@settings(max_examples=60)
@given(st.lists(objects, min_size=1, max_size=5), st.sampled_from(LISTS), objects)
def test_every_layout_has_the_same_records(
    tmp_path: Path, records: list[object], name: str, around: dict[str, object]
) -> None:
    file = tmp_path / "records.json"
    assert read(file, json.dumps(records)) == records
    assert read(file, "\ufeff" + json.dumps(records, indent=2)) == records
    assert read(file, "\n".join(map(json.dumps, records))) == records
    assert read(file, json.dumps(around | {name: records} | {"after": 1})) == records


def test_groups_separate_conversations(tmp_path: Path) -> None:
    file = tmp_path / "records.json"
    file.write_text('{"messages": [1, 2]}\n{"messages": [3]}\n4', encoding="utf-8")
    assert [(entry.group, entry.number, entry.listed) for entry in read_records(file)] == [
        (1, 1, True),
        (1, 2, True),
        (2, 3, True),
        (3, 4, False),
    ]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('[{"a": 1}, {"b":', "ends in the middle of record 2"),
        ('{"results": [{"a": 1}, {"a": 2}', "ends in the middle of record 3"),
        ('[{"a": 1}, {"b" 3}]', "is not JSON after record 1"),
    ],
)
def test_a_truncated_file_is_reported(tmp_path: Path, text: str, error: str) -> None:
    with pytest.raises(InvalidInput, match=error):
        read(tmp_path / "half.json", text)


def test_a_long_list_is_never_loaded_completely(tmp_path: Path) -> None:
    file = tmp_path / "long.json"
    with file.open("w", encoding="utf-8") as out:
        out.write('{"results": [')
        out.write(
            ",".join(
                json.dumps({"id": str(number), "memory": "x" * 200}) for number in range(20_000)
            )
        )
        out.write("]}")
    tracemalloc.start()
    assert sum(1 for _ in read_records(file)) == 20_000
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 2_000_000 < file.stat().st_size
