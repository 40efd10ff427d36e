"""Times of the events that turns mention, with the words that state them."""

from collections.abc import Sequence
from typing import Final

from hotmem.storage.database import Connection, Pending
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.types import EventTime, EvidenceKind, Interval, TimedWords, UserKey

COARSE: Final = 32 * 86_400 * 1_000_000
"""Microseconds. A longer time ("in 2019") does not match a query about a day within it."""

MATCHES: Final = "h.since < :end AND h.until > :start AND h.until - h.since <= :longest"

SPANS: Final = {
    EvidenceKind.PASSAGE: ("passages", "x.id"),
    EvidenceKind.MEMORY: ("sources", "x.memory"),
}
"""Tables of the words that rows consist of, each with its column for the number of the row."""

MENTIONED: Final = """{spans} x JOIN event_times h
    ON h.turn = x.turn AND h.start < x.stop AND h.stop > x.start"""

WITHIN: Final = f"""SELECT {{key}} FROM {MENTIONED}
    WHERE {{key}} = ANY(:keys) AND +h.user_key = :user AND {MATCHES}"""
"""Rows whose text mentions a time within an interval."""

NAMED: Final = f"""SELECT {{key}}, substr(t.text, h.start + 1, h.stop - h.start), h.since, h.until
    FROM {MENTIONED} JOIN turns t ON t.id = h.turn
    WHERE {{key}} = ANY(?) AND +h.user_key = ? ORDER BY {{key}}, h.turn, h.start"""
"""Times that rows mention, with their words."""

IN_WINDOW: Final = f"""SELECT DISTINCT {{key}} FROM {MENTIONED}
    WHERE h.user_key = :user AND h.since > :earliest AND {MATCHES}
    ORDER BY {{key}} DESC LIMIT :limit"""
"""A user's rows whose text mentions a time within an interval, latest first. The earliest start is
bounded by the longest matching time, so that the index bounds the rows read on both sides."""


def of_kind(statement: str, kind: EvidenceKind) -> str:
    """One of the statements above for passages or memories."""
    spans, key = SPANS[kind]
    return statement.format(spans=spans, key=key)


def put(conn: Connection, user: UserKey, turn: int, times: Sequence[EventTime]) -> None:
    """Stores the event times of a turn."""
    conn.executemany(
        """INSERT INTO event_times (turn, start, stop, since, until, user_key)
           VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING""",
        [
            (
                turn,
                one.start,
                one.stop,
                to_stored(one.interval.start),
                to_stored(one.interval.end),
                user,
            )
            for one in times
        ],
    )


def ask_within(
    conn: Connection, user: UserKey, kind: EvidenceKind, keys: Sequence[int], asked: Interval
) -> Pending[set[int]]:
    """Those of the passages or memories that mention a time in the interval, about as precisely."""
    if not keys:
        return set
    values = {"user": user, "keys": [*keys], **_window(asked)}
    rows = conn.execute(of_kind(WITHIN, kind), values)
    return lambda: {row[0] for row in rows}


def ask_in_window(
    conn: Connection, user: UserKey, kind: EvidenceKind, asked: Interval, limit: int
) -> Pending[list[int]]:
    """The user's latest passages or memories that mention a time in the interval.

    The cost grows with the events around it, not with the memory.
    """
    window = _window(asked)
    earliest = window["start"] - window["longest"]
    values = {"user": user, "earliest": earliest, "limit": limit, **window}
    rows = conn.execute(of_kind(IN_WINDOW, kind), values)
    return lambda: [row[0] for row in rows]


def _window(asked: Interval) -> dict[str, int]:
    """The interval, and the longest time that matches it, in microseconds."""
    start, end = to_stored(asked.start), to_stored(asked.end)
    return {"start": start, "end": end, "longest": max(end - start, COARSE)}


def ask_named(
    conn: Connection, user: UserKey, kind: EvidenceKind, keys: Sequence[int]
) -> Pending[dict[int, tuple[TimedWords, ...]]]:
    """Words that state times in passages or in turns of memories, with their intervals."""
    if not keys:
        return dict
    rows = conn.execute(of_kind(NAMED, kind), ([*keys], user))

    def found() -> dict[int, tuple[TimedWords, ...]]:
        times: dict[int, list[TimedWords]] = {}
        for key, words, since, until in rows:
            times.setdefault(key, []).append(
                TimedWords(words, Interval(from_stored(since), from_stored(until)))
            )
        return {key: tuple(mentioned) for key, mentioned in times.items()}

    return found


def of_turns(
    conn: Connection, user: UserKey, keys: Sequence[int]
) -> dict[int, tuple[EventTime, ...]]:
    """The event times of turns, by row number."""
    found: dict[int, list[EventTime]] = {}
    rows = conn.execute(
        """SELECT turn, start, stop, since, until FROM event_times
            WHERE turn = ANY(?) AND +user_key = ? ORDER BY turn, start""",
        ([*keys], user),
    )
    for turn, start, stop, since, until in rows:
        found.setdefault(turn, []).append(
            EventTime(start, stop, Interval(from_stored(since), from_stored(until)))
        )
    return {turn: tuple(mentioned) for turn, mentioned in found.items()}
