"""What replies made of memory: recorded recalls and their items, and the weights that were learnt from them."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from hotmem.store.driver import Connection
from hotmem.store.inspection.paging import screen
from hotmem.store.times import from_stored, to_stored
from hotmem.types import UserKey
from hotmem.types.inspection import Cursor, RecallRow, RecordedItem, Screen, StoredWeight

RECALLS: Final = """
    SELECT r.asked_at, r.id, r.query, r.session, (SELECT s.id FROM sessions s WHERE s.user = r.user AND s.name = r.session),
        r.tokens, r.ms, r.interrupted, (SELECT count(*) FROM uses u WHERE u.recall = r.id),
        (SELECT count(*) FROM uses u WHERE u.recall = r.id AND u.kind <> 'unused')
    FROM recalls r WHERE r.user = ?"""


def recalls(conn: Connection, user: UserKey, at: Cursor | None, rows: int) -> Screen[RecallRow]:
    """The user's recorded recalls, the latest first."""
    return screen(conn, RECALLS, (user,), _recall, by=("r.asked_at", "r.id"), at=at, rows=rows)


def recall(conn: Connection, user: UserKey, key: int) -> RecallRow | None:
    """One recorded recall of the user."""
    row = conn.execute(f"{RECALLS} AND r.id = ?", (user, key)).fetchone()
    return None if row is None else _recall(row)


def recalls_for(conn: Connection, user: UserKey, session_id: str, query: str, first: datetime, last: datetime) -> list[RecallRow]:
    """The recalls for a turn: asked with its words, in its session, between two times."""
    rows = conn.execute(
        f"{RECALLS} AND r.asked_at BETWEEN ? AND ? AND r.session = ? AND r.query = ? ORDER BY r.asked_at",
        (user, to_stored(first), to_stored(last), session_id, query),
    )
    return [_recall(row) for row in rows]


def items(conn: Connection, user: UserKey, recall: int) -> list[RecordedItem]:
    """The items of a recorded recall, in the order of its block."""
    rows = conn.execute(
        """SELECT u.layers, u.kind, u.strength, u.relevance, m.id, m.text, u.turns
           FROM recalls r JOIN uses u ON u.recall = r.id LEFT JOIN memories m ON m.name = u.memory AND m.user = r.user
           WHERE r.user = ? AND r.id = ? ORDER BY u.place""",
        (user, recall),
    ).fetchall()
    found = []
    for layers, use, strength, relevance, memory, text, names in rows:
        turns = conn.execute("SELECT id, text FROM turns WHERE user = ? AND name IN (SELECT value FROM json_each(?))", (user, names)).fetchall()
        words = text if memory is not None else " … ".join(turn[1] for turn in turns)
        found.append(RecordedItem(tuple(json.loads(layers)), use, strength, relevance, words, memory, tuple(turn[0] for turn in turns)))
    return found


def weights(conn: Connection, user: UserKey) -> list[StoredWeight]:
    """The user's layer weights as they stand in the file; one that was edited by hand may be anything."""
    rows = conn.execute("SELECT layer, weight, updated_at FROM weights WHERE user = ? ORDER BY layer", (user,))
    return [StoredWeight(str(layer), weight, _moment(updated_at)) for layer, weight, updated_at in rows]


def _moment(stored: object) -> datetime | None:
    try:
        return from_stored(int(str(stored)))
    except (OverflowError, ValueError):
        return None


def _recall(row: Sequence[Any]) -> RecallRow:
    asked_at, key, query, session_id, session, tokens, ms, interrupted, given, used = row
    return RecallRow(key, query, session, session_id, from_stored(asked_at), given, used, tokens, ms, bool(interrupted))
