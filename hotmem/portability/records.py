"""JSON of other programs, record by record: a list, an object that holds one, or one object a line.

However long, it is never held whole.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import ijson
from ijson.common import ObjectBuilder

from hotmem.errors import InvalidInput

LISTS: Final = ("results", "memories", "messages")
"""Names under which an object holds its records."""

_OPENS: Final = ("start_map", "start_array")
_CLOSES: Final = ("end_map", "end_array")

Event = tuple[str, str, Any]


class Entry(NamedTuple):
    """A record.

    Attributes:
        group: Number of the outermost value that it stands in, from 1.
        number: Its own number, from 1.
        listed: Whether that value is a list of records, or holds one.
        value: What it holds.
    """

    group: int
    number: int
    listed: bool
    value: Any


def entries(path: Path) -> Iterator[Entry]:
    """The records of a file, in its order.

    Raises:
        InvalidInput: If it cannot be read, or is not JSON, or only half of it, naming the record
            where it breaks off.
    """
    group = number = 0
    try:
        with path.open("rb") as file:
            if file.read(3) != b"\xef\xbb\xbf":
                file.seek(0)
            events = ijson.parse(file, multiple_values=True, use_float=True)
            for event in events:
                group += 1
                for listed, value in _within(event, events):
                    number += 1
                    yield Entry(group, number, listed, value)
    except (ijson.JSONError, UnicodeDecodeError) as error:
        half = any(told in str(error).lower() for told in ("premature", "incomplete json content"))
        fact = "ends in the middle of" if half else "is not JSON after"
        raise InvalidInput(
            f"{path} {fact} record {number + half}. Export again; nothing was imported."
        ) from error
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read ({type(error).__name__}). Pass a file that you may read."
        ) from error


def _within(first: Event, events: Iterator[Event]) -> Iterator[tuple[bool, Any]]:
    """The records of one outermost value, and whether it lists them.

    A list's members, those of the list in an object, or the value itself.
    """
    _, event, value = first
    if event == "start_array":
        yield from ((True, member) for member in _members(events))
        return
    if event != "start_map":
        yield False, value
        return
    own, listed = ObjectBuilder(), False
    own.event(event, value)
    for _, event, value in events:
        own.event(event, value)
        if event == "end_map":
            break
        following = next(events)
        if value in LISTS and following[1] == "start_array":
            listed = True
            yield from ((True, member) for member in _members(events))
            own.event("null", None)
        else:
            _build(own, following, events)
    if not listed:
        yield False, own.value


def _members(events: Iterator[Event]) -> Iterator[Any]:
    for event in events:
        if event[1] == "end_array":
            return
        member = ObjectBuilder()
        _build(member, event, events)
        yield member.value


def _build(builder: ObjectBuilder, first: Event, events: Iterator[Event]) -> None:
    """Builds one value, however deep."""
    _, event, value = first
    builder.event(event, value)
    depth = int(event in _OPENS)
    while depth:
        _, event, value = next(events)
        builder.event(event, value)
        depth += (event in _OPENS) - (event in _CLOSES)
