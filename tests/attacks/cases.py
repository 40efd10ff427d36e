"""Cases that people wrote who had not read the code."""

import json
from pathlib import Path
from typing import Any


def cases(name: str) -> list[dict[str, Any]]:
    """The cases of a file beside this one."""
    found: list[dict[str, Any]] = json.loads(
        (Path(__file__).parent / f"{name}.json").read_text("utf-8")
    )
    return found
