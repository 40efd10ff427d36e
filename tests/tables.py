"""Tables of cases, in a JSON file beside the test that goes through them."""

import json
from pathlib import Path
from typing import Any

import pytest


def tables(test: str, name: str | None = None) -> Any:  # noqa: ANN401 - whatever the file holds
    """The tables of a JSON file beside a test: `test_time.json` of `test_time.py`, unless named.

    Args:
        test: The `__file__` of the test.
        name: Another file, by its path from the folder of the test without extension.
    """
    path = Path(test)
    return json.loads((path.parent / f"{name or path.stem}.json").read_text("utf-8"))


def named_rows(table: list[list[Any]]) -> list[Any]:
    """The rows of a table whose first column is the name of the case.

    Args:
        table: A table of `tables`.
    """
    return [pytest.param(*row, id=name) for name, *row in table]


def attack_cases(name: str) -> list[dict[str, Any]]:
    """The cases of a file of `tests/attacks`."""
    found: list[dict[str, Any]] = tables(__file__, f"attacks/{name}")
    return found
