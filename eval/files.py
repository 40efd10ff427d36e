"""Files of cases: tables separated by tabs, and lines of JSON."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

Row = TypeVar("Row")


def tsv_rows(path: Path) -> list[list[str]]:
    """Return the fields of each line, a heading among them."""
    return [line.split("\t") for line in path.read_text("utf-8").splitlines()]


def tsv_records(path: Path) -> list[dict[str, str]]:
    """Return the fields of each line by the names in the first one; quotes have no meaning."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def json_records(path: Path) -> list[dict[str, Any]]:
    """Return the object of each line."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def some(rows: Sequence[Row], limit: int | None) -> Sequence[Row]:
    """Return about `limit` of the rows, spread over all; None returns all."""
    return rows[:: -(-len(rows) // limit)] if limit else rows
