"""Recorded recalls with their items, the quality record, and learnt weights."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, Final

from hotmem.storage.database import Connection
from hotmem.storage.inspection.paging import screen
from hotmem.storage.queries.quality import COUNTS
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.types import Latencies, Layer, Tally, UserKey
from hotmem.types.inspection import Cursor, Page, RecallRow, RecordedItem, StoredWeight

RECALLS: Final = """
    SELECT r.asked_at, r.id, r.query, r.session, (SELECT s.id FROM sessions s
        WHERE s.user_key = r.user_key AND s.public_id = r.session),
        r.tokens, r.ms, r.interrupted, (SELECT count(*) FROM recall_items u WHERE u.recall = r.id),
        (SELECT count(*) FROM recall_items u WHERE u.recall = r.id AND u.kind <> 'unused')
    FROM recalls r WHERE r.user_key = ?"""


def recalls(conn: Connection, user: UserKey, at: Cursor | None, rows: int) -> Page[RecallRow]:
    """The user's recorded recalls, the latest first."""
    return screen(conn, RECALLS, (user,), _recall, by=("r.asked_at", "r.id"), at=at, rows=rows)


def recall(conn: Connection, user: UserKey, key: int) -> RecallRow | None:
    """One recorded recall of the user."""
    row = conn.execute(f"{RECALLS} AND r.id = ?", (user, key)).fetchone()
    return None if row is None else _recall(row)


def recalls_for(
    conn: Connection, user: UserKey, session_id: str, query: str, first: datetime, last: datetime
) -> list[RecallRow]:
    """The recalls of a turn: its text as the query, in its session, between two times."""
    rows = conn.execute(
        f"""{RECALLS} AND r.asked_at BETWEEN ? AND ? AND r.session = ? AND r.query = ?
            ORDER BY r.asked_at, r.id""",
        (user, to_stored(first), to_stored(last), session_id, query),
    )
    return [_recall(row) for row in rows]


def items(conn: Connection, user: UserKey, recall: int) -> list[RecordedItem]:
    """The items of a recorded recall, in block order."""
    rows = conn.execute(
        """SELECT u.layers, u.kind, u.strength, u.relevance, m.id, m.text, u.turns
           FROM recalls r JOIN recall_items u ON u.recall = r.id LEFT JOIN memories m
               ON m.public_id = u.memory AND m.user_key = r.user_key
           WHERE r.user_key = ? AND r.id = ? ORDER BY u.place""",
        (user, recall),
    ).fetchall()
    found = []
    for layers, use, strength, relevance, memory, text, names in rows:
        turns = conn.execute(
            """SELECT id, text FROM turns WHERE user_key = ? AND public_id = ANY(?)
                ORDER BY public_id""",
            (user, json.loads(names)),
        ).fetchall()
        words = text if memory is not None else " … ".join(turn[1] for turn in turns)
        found.append(
            RecordedItem(
                tuple(json.loads(layers)),
                use,
                strength,
                relevance,
                words,
                memory,
                tuple(turn[0] for turn in turns),
            )
        )
    return found


def quality(
    conn: Connection, user: UserKey, letters: int, first: date | None
) -> dict[str, dict[Layer | None, Tally]]:
    """The quality record by period from a day on, the earliest first.

    Rows of the whole block have latencies, rows of a layer have none.

    Args:
        conn: A connection.
        user: The user.
        letters: Characters of an ISO date that name a period.
        first: The first day; None is the earliest.
    """
    asked = {"user": user, "first": (first or date.min).isoformat()}
    where = "q.user_key = :user AND q.day >= :first"
    latencies: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for day, text in conn.execute(
        f"SELECT q.day, q.latencies FROM quality q WHERE {where} AND q.layer = ''", asked
    ):
        latencies[day[:letters]].update(dict(json.loads(text)))
    sums: dict[str, dict[Layer | None, Tally]] = {}
    summed = ", ".join(f"sum(q.{name})" for name in COUNTS)
    for period, layer, *counts in conn.execute(
        f"""SELECT substr(q.day, 1, {letters}), q.layer, {summed} FROM quality q WHERE {where}
            GROUP BY 1, 2 ORDER BY 1, 2""",
        asked,
    ):
        taken = Latencies() if layer else Latencies(tuple(sorted(latencies[period].items())))
        sums.setdefault(period, {})[Layer(layer) if layer else None] = Tally(
            **dict(zip(COUNTS, counts, strict=True)), latencies=taken
        )
    return sums


def weights(conn: Connection, user: UserKey) -> list[StoredWeight]:
    """The user's stored layer weights, which may have been edited by hand."""
    rows = conn.execute(
        "SELECT layer, weight, updated_at FROM weights WHERE user_key = ? ORDER BY layer", (user,)
    )
    return [
        StoredWeight(str(layer), weight, _moment(updated_at)) for layer, weight, updated_at in rows
    ]


def _moment(stored: object) -> datetime | None:
    try:
        return from_stored(int(str(stored)))
    except (OverflowError, ValueError):
        return None


def _recall(row: Sequence[Any]) -> RecallRow:
    asked_at, key, query, session_id, session, tokens, ms, interrupted, given, used = row
    return RecallRow(
        key,
        query,
        session,
        session_id,
        from_stored(asked_at),
        given,
        used,
        tokens,
        ms,
        bool(interrupted),
    )
