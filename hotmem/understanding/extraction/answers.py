"""Reading of a language model's answers, which are untrusted."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from hotmem.text.escaping import escape_for_prompt
from hotmem.text.validation import clean_text

MAX_OBJECTS: Final = 64
"""Opening braces of an answer at which its object is looked for: a model may think aloud first."""


def json_objects(answer: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in an answer; thoughts and code fences around them are skipped."""
    decoder = json.JSONDecoder()
    starts = (place for place, sign in enumerate(answer) if sign == "{")
    for start in islice(starts, MAX_OBJECTS):
        try:
            found, _ = decoder.raw_decode(answer, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found


def one_line(value: Any, limit: int) -> str | None:  # noqa: ANN401 - whatever JSON holds
    """A text on one line; "" for null.

    None if it is no text, has more characters than `limit`, or holds anything that escaping for a
    prompt would change.
    """
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > limit:
        return None
    text = " ".join(clean_text(value).split())
    return text if escape_for_prompt(text) == text else None
