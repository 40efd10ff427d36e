"""Loading attack cases."""

import json
from pathlib import Path
from typing import Any


def cases(name: str) -> list[dict[str, Any]]:
    """Return the cases of a JSON file in this folder."""
    found: list[dict[str, Any]] = json.loads(
        (Path(__file__).parent / f"{name}.json").read_text("utf-8")
    )
    return found
