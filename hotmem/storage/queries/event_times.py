"""Times of the events that turns mention, with the words that state them."""

from collections.abc import Sequence
from typing import Final

from hotmem.storage.database import Connection, Pending
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.types import EventTime, EvidenceKind, Interval, TimedWords, UserKey

COARSE: Final = 32 * 86_400 * 1_000_000
"""Microseconds. A longer time ("in 2019") does not match a query about a day within it."""

MATCHES: Final = "h.since < :end AND h.until > :start AND h.until - h.since <= :longest"

OF: Final = {
    EvidenceKind.PASSAGE: f"""SELECT p.id FROM passages p JOIN event_times h ON h.turn = p.turn
        AND h.start < p.stop AND h.stop > p.start
        WHERE p.id = ANY(:keys) AND +h.user_key = :user AND {MATCHES}""",
    EvidenceKind.MEMORY: f"""SELECT x.memory FROM sources x JOIN event_times h ON h.turn = x.turn
        AND h.start < x.stop AND h.stop > x.start
        WHERE x.memory = ANY(:keys) AND +h.user_key = :user AND {MATCHES}""",
}
"""Rows whose text mentions a time within an interval."""

NAMED: Final = {
    EvidenceKind.PASSAGE: """SELECT p.id, substr(t.text, h.start + 1, h.stop - h.start), h.since,
        h.until
        FROM passages p JOIN event_times h ON h.turn = p.turn AND h.start < p.stop
            AND h.stop > p.start JOIN turns t ON t.id = h.turn
        WHERE p.id = ANY(?) AND +h.user_key = ? ORDER BY p.id, h.start""",
    EvidenceKind.MEMORY: """SELECT x.memory, substr(t.text, h.start + 1, h.stop - h.start), h.since,
        h.until
        FROM sources x JOIN event_times h ON h.turn = x.turn AND h.start < x.stop
            AND h.stop > x.start JOIN turns t ON t.id = h.turn
        WHERE x.memory = ANY(?) AND +h.user_key = ? ORDER BY x.memory, h.turn, h.start""",
}
"""Times that rows mention, with their words."""

IN_WINDOW: Final = {
    EvidenceKind.PASSAGE: f"""SELECT DISTINCT p.id FROM event_times h
        JOIN passages p ON p.turn = h.turn AND h.start < p.stop AND h.stop > p.start
        WHERE h.user_key = :user AND h.since > :earliest AND {MATCHES} ORDER BY p.id DESC
            LIMIT :limit""",
    EvidenceKind.MEMORY: f"""SELECT DISTINCT x.memory FROM event_times h
        JOIN sources x ON x.turn = h.turn AND h.start < x.stop AND h.stop > x.start
        WHERE h.user_key = :user AND h.since > :earliest AND {MATCHES} ORDER BY x.memory DESC
            LIMIT :limit""",
}
"""A user's rows whose text mentions a time within an interval, latest first. The earliest start is
bounded by the longest matching time, so that the index bounds the rows read on both sides."""


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
    if kind not in OF or not keys:
        return set
    values = {"user": user, "keys": [*keys], **_window(asked)}
    rows = conn.execute(OF[kind], values)
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
    rows = conn.execute(IN_WINDOW[kind], values)
    return lambda: [row[0] for row in rows]


def _window(asked: Interval) -> dict[str, int]:
    """The interval, and the longest time that matches it, in microseconds."""
    start, end = to_stored(asked.start), to_stored(asked.end)
    return {"start": start, "end": end, "longest": max(end - start, COARSE)}


def ask_named(
    conn: Connection, user: UserKey, kind: EvidenceKind, keys: Sequence[int]
) -> Pending[dict[int, tuple[TimedWords, ...]]]:
    """Words that state times in passages or in turns of memories, with their intervals."""
    if kind not in NAMED or not keys:
        return dict
    rows = conn.execute(NAMED[kind], ([*keys], user))

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
