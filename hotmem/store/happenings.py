"""When the things happened that turns speak of, by the words that say so."""

import json
from collections.abc import Sequence
from typing import Final

from hotmem.store.driver import Connection
from hotmem.store.times import from_stored, to_stored
from hotmem.types import EvidenceKind, Happening, Interval

COARSE: Final = 32 * 86_400 * 1_000_000
"""Microseconds. What happened "in 2019" is no answer to what happened on a day of it; up to a month, times are told as coarsely as this."""

TOLD: Final = "h.since < :end AND h.until > :start AND h.until - h.since <= max(:end - :start, :coarse)"

OF: Final = {
    EvidenceKind.PASSAGE: f"""SELECT p.id FROM passages p JOIN happenings h ON h.turn = p.turn AND h.start < p.stop AND h.stop > p.start
        WHERE p.id IN (SELECT value FROM json_each(:keys)) AND {TOLD}""",
    EvidenceKind.MEMORY: f"""SELECT x.memory FROM sources x JOIN happenings h ON h.turn = x.turn AND h.start < x.stop AND h.stop > x.start
        WHERE x.memory IN (SELECT value FROM json_each(:keys)) AND {TOLD}""",
}
"""Rows whose words tell of a time."""


def put(conn: Connection, turn: int, happenings: Sequence[Happening]) -> None:
    """Stores when what a turn speaks of happened."""
    conn.executemany(
        "INSERT OR IGNORE INTO happenings (turn, start, stop, since, until) VALUES (?, ?, ?, ?, ?)",
        [(turn, one.start, one.stop, to_stored(one.interval.start), to_stored(one.interval.end)) for one in happenings],
    )


def within(conn: Connection, kind: EvidenceKind, keys: Sequence[int], asked: Interval) -> set[int]:
    """Those of the passages or memories whose words tell of something in the interval, about as closely as it is asked for."""
    values = {"keys": json.dumps(list(keys)), "start": to_stored(asked.start), "end": to_stored(asked.end), "coarse": COARSE}
    return {row[0] for row in conn.execute(OF[kind], values)} if kind in OF else set()


def of_turns(conn: Connection, keys: Sequence[int]) -> dict[int, tuple[Happening, ...]]:
    """What each of the turns tells of, by row number."""
    found: dict[int, list[Happening]] = {}
    rows = conn.execute(
        "SELECT turn, start, stop, since, until FROM happenings WHERE turn IN (SELECT value FROM json_each(?)) ORDER BY turn, start",
        (json.dumps(list(keys)),),
    )
    for turn, start, stop, since, until in rows:
        found.setdefault(turn, []).append(Happening(start, stop, Interval(from_stored(since), from_stored(until))))
    return {turn: tuple(told) for turn, told in found.items()}
