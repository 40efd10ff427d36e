"""Streaming reader of JSON records: a list, an object that contains one, or one object per line.

A file is never loaded completely.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import ijson
from ijson.common import ObjectBuilder

from hotmem.errors import InvalidInput

LISTS: Final = ("results", "memories", "messages")
"""Keys of an object whose value is the list of records."""

_OPENS: Final = ("start_map", "start_array")
_CLOSES: Final = ("end_map", "end_array")

Event = tuple[str, str, Any]


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """A record of a file.

    Attributes:
        group: Number of the top-level value that contains it, from 1.
        number: Number of the record in the file, from 1.
        listed: Whether the top-level value is or contains a list of records.
        value: The record.
    """

    group: int
    number: int
    listed: bool
    value: Any


def read_records(path: Path) -> Iterator[JsonRecord]:
    """Read the records of a file in their order.

    Raises:
        InvalidInput: If the file cannot be read, is not JSON, or is truncated; the message names
            the last record.
    """
    group = number = 0
    try:
        with path.open("rb") as file:
            if file.read(3) != b"\xef\xbb\xbf":
                file.seek(0)
            events = ijson.parse(file, multiple_values=True, use_float=True)
            for event in events:
                group += 1
                for listed, value in _records_in(event, events):
                    number += 1
                    yield JsonRecord(group, number, listed, value)
    except (ijson.JSONError, UnicodeDecodeError) as error:
        message = str(error).lower()
        truncated = "premature" in message or "incomplete json content" in message
        problem = "ends in the middle of" if truncated else "is not JSON after"
        raise InvalidInput(
            f"{path} {problem} record {number + truncated}. Export again; nothing was imported."
        ) from error
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read ({type(error).__name__}). Pass a readable file."
        ) from error


def _records_in(first: Event, events: Iterator[Event]) -> Iterator[tuple[bool, Any]]:
    """Return the records of a top-level value, and whether they are in a list.

    They are the items of a list, of the list in an object, or the value itself.
    """
    _, event, value = first
    if event == "start_array":
        yield from ((True, item) for item in _items(events))
        return
    if event != "start_map":
        yield False, value
        return
    builder, listed = ObjectBuilder(), False
    builder.event(event, value)
    for _, event, value in events:
        builder.event(event, value)
        if event == "end_map":
            break
        following = next(events)
        if value in LISTS and following[1] == "start_array":
            listed = True
            yield from ((True, item) for item in _items(events))
            builder.event("null", None)
        else:
            _build(builder, following, events)
    if not listed:
        yield False, builder.value


def _items(events: Iterator[Event]) -> Iterator[Any]:
    for event in events:
        if event[1] == "end_array":
            return
        item = ObjectBuilder()
        _build(item, event, events)
        yield item.value


def _build(builder: ObjectBuilder, first: Event, events: Iterator[Event]) -> None:
    """Build one value from its events."""
    _, event, value = first
    builder.event(event, value)
    depth = int(event in _OPENS)
    while depth:
        _, event, value = next(events)
        builder.event(event, value)
        depth += (event in _OPENS) - (event in _CLOSES)
