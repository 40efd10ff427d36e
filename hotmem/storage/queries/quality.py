"""The quality record: sums by day, intent and layer, to which each reply adds."""

import json
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any, Final

from hotmem.storage.database import Connection
from hotmem.types import Intent, Latencies, Layer, QualityRecord, Tally, UserKey

MOST_DAYS: Final = 730
"""Latest days stored per user."""

COUNTS: Final = ("turns", "given", "used", "tokens", "wasted", "helped", "empty", "late")


def add(conn: Connection, user: UserKey, records: Iterable[QualityRecord]) -> None:
    """Adds to the user's record; days beyond the latest `MOST_DAYS` are deleted."""
    grows = False
    for record in records:
        before = _tally(conn, user, record)
        _put(conn, user, record, (before or Tally()) + record.tally)
        grows |= before is None
    if grows:
        _prune(conn, user)


def put(conn: Connection, user: UserKey, record: QualityRecord) -> bool:
    """Stores an imported record; False if there is one of its day, intent and layer."""
    if _tally(conn, user, record) is not None:
        return False
    _put(conn, user, record, record.tally)
    return True


def subtract(conn: Connection, user: UserKey, record: QualityRecord) -> None:
    """Subtracts an imported record again; what was added to it stays."""
    held = _tally(conn, user, record)
    if held == record.tally:
        conn.execute(
            "DELETE FROM quality WHERE user_key = ? AND day = ? AND intent = ? AND layer = ?",
            (user, *_cell(record)),
        )
    elif held is not None:
        _put(conn, user, record, held - record.tally)


def of_user(
    conn: Connection, user: UserKey, first: date | None, last: date | None
) -> list[QualityRecord]:
    """The user's records from the first to the last day inclusive; None is open."""
    rows = conn.execute(
        f"""SELECT day, intent, layer, {", ".join(COUNTS)}, latencies FROM quality
            WHERE user_key = ? AND day >= ? AND day <= ? ORDER BY day, intent, layer""",
        (user, (first or date.min).isoformat(), (last or date.max).isoformat()),
    )
    return [
        QualityRecord(
            date.fromisoformat(day),
            Intent(intent) if intent else None,
            Layer(layer) if layer else None,
            _read(values),
        )
        for day, intent, layer, *values in rows
    ]


def _tally(conn: Connection, user: UserKey, record: QualityRecord) -> Tally | None:
    row = conn.execute(
        f"""SELECT {", ".join(COUNTS)}, latencies FROM quality WHERE user_key = ? AND day = ?
            AND intent = ? AND layer = ?""",
        (user, *_cell(record)),
    ).fetchone()
    return None if row is None else _read(row)


def _put(conn: Connection, user: UserKey, record: QualityRecord, tally: Tally) -> None:
    counts = [getattr(tally, name) for name in COUNTS]
    updates = ", ".join(f"{name} = excluded.{name}" for name in (*COUNTS, "latencies"))
    conn.execute(
        f"""INSERT INTO quality (user_key, day, intent, layer, {", ".join(COUNTS)}, latencies)
            VALUES ({", ".join("?" * (len(COUNTS) + 5))})
            ON CONFLICT (user_key, day, intent, layer) DO UPDATE SET {updates}""",
        (user, *_cell(record), *counts, json.dumps(tally.latencies.counts)),
    )


def _prune(conn: Connection, user: UserKey) -> None:
    conn.execute(
        """DELETE FROM quality WHERE user_key = :user AND day <=
               (SELECT day FROM (SELECT DISTINCT day FROM quality WHERE user_key = :user) d
                   ORDER BY day DESC LIMIT 1 OFFSET :kept)""",
        {"user": user, "kept": MOST_DAYS},
    )


def _cell(record: QualityRecord) -> tuple[str, str, str]:
    return record.day.isoformat(), record.intent or "", record.layer or ""


def _read(values: Sequence[Any]) -> Tally:
    counts = dict(zip(COUNTS, values[:-1], strict=True))
    return Tally(
        **counts,
        latencies=Latencies(tuple((place, count) for place, count in json.loads(values[-1]))),
    )
