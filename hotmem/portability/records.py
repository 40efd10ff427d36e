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
from hotmem.text.validation import validate_id

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


@dataclass(frozen=True, slots=True)
class UserMapping:
    """Selection of records and their target user.

    Attributes:
        user_id: Target user ID; None is the user ID of each record.
        from_user: User ID in the file whose records are imported; other records are skipped. None
            imports the records of `user_id` and refuses others.
    """

    user_id: str | None = None
    from_user: str | None = None

    def target(self, given: object, where: str) -> str | None:
        """Return the target user of a record; None if the record is skipped.

        Args:
            given: User ID of the record, or None.
            where: Name of the record for the error.

        Raises:
            InvalidInput: If neither the record nor the import has a user ID, or they differ.
        """
        if given is not None and not isinstance(given, str):
            raise InvalidInput(f"{where}: user_id is {type(given).__name__}, not a string.")
        if self.from_user is not None:
            return self.user_id if given == self.from_user else None
        if self.user_id is not None:
            if given is not None and given != self.user_id:
                raise InvalidInput(
                    f"{where}: user_id is {given!r}. Only records of {self.user_id!r} are "
                    f"imported; pass from_user (--from-user) {given!r} to import these as that "
                    "user's."
                )
            return self.user_id
        if not given:
            raise InvalidInput(
                f"{where} has no user_id. Add one to every record, or pass user_id (--user)."
            )
        return validate_id(given, "user_id")


ALL_USERS: Final = UserMapping()
"""Every record keeps its own user ID."""
