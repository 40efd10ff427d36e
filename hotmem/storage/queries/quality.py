"""Recalls and how replies used them: records, sums by day, intent and layer, statistics."""

import json
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any, Final

from hotmem.storage.database import Connection
from hotmem.storage.queries import deletion_marks
from hotmem.storage.queries.tags import SHOWN
from hotmem.storage.queries.times import span, to_stored
from hotmem.types import (
    AnsweredRecall,
    ContextBlock,
    Intent,
    ItemUse,
    Latencies,
    Layer,
    QualityRecord,
    Tally,
    UseCount,
    UsedMemory,
    UserKey,
)

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
    cell = dict(zip(("user_key", "day", "intent", "layer"), (user, *_cell(record)), strict=True))
    counts = {name: getattr(tally, name) for name in COUNTS}
    conn.upsert("quality", cell | counts | {"latencies": json.dumps(tally.latencies.counts)})


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


MOST_RECALLS: Final = 10_000
"""Latest recalls of a user that are stored item by item. The quality record sums up all of them."""

PRUNED_EVERY: Final = 100
"""Recalls beyond `MOST_RECALLS` that are deleted together."""


def record(
    conn: Connection,
    user: UserKey,
    block: ContextBlock,
    uses: tuple[ItemUse, ...],
    records: Sequence[QualityRecord] = (),
    *,
    interrupted: bool,
) -> bool:
    """Stores the usage of a block once, and adds to the quality record.

    False if it is stored already, or if the user forgot something since the block was composed.
    """
    if deletion_marks.forgot_since(conn, user, block.forget_version):
        return False
    row = {
        "public_id": block.id,
        "user_key": user,
        "session": block.session_id,
        "query": block.query,
        "asked_at": to_stored(block.at),
        "tokens": block.tokens,
        "ms": sum(block.trace.stages.values()),
        "interrupted": interrupted,
    }
    key = conn.insert("recalls", row, anew=False)
    if key is None:
        return False
    conn.executemany(
        """INSERT INTO recall_items (recall, place, layers, kind, strength, relevance, memory,
            turns) VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
        [
            (
                key,
                place,
                json.dumps(use.item.layers),
                use.kind,
                use.strength,
                use.item.relevance,
                use.item.memory_id,
                json.dumps(use.item.turn_ids),
            )
            for place, use in enumerate(uses)
        ],
    )
    _prune_recalls(conn, user)
    add(conn, user, records)
    return True


def _prune_recalls(conn: Connection, user: UserKey) -> None:
    count = conn.scalar("SELECT count(*) FROM recalls WHERE user_key = ?", (user,))
    if count < MOST_RECALLS + PRUNED_EVERY:
        return
    conn.execute(
        """DELETE FROM recalls WHERE user_key = :user AND id <=
               (SELECT id FROM recalls WHERE user_key = :user
                   ORDER BY id DESC LIMIT 1 OFFSET :kept)""",
        {"user": user, "kept": MOST_RECALLS},
    )


def recorded(conn: Connection, user: UserKey) -> list[tuple[str, str, int, tuple[str, ...]]]:
    """Recalls that were useful: block id, query, time as stored, and ids of the turns used."""
    rows = conn.execute(
        """SELECT r.public_id, r.query, r.asked_at, u.turns FROM recalls r
           JOIN recall_items u ON u.recall = r.id
           WHERE r.user_key = ? AND u.kind <> 'unused' ORDER BY r.id, u.place""",
        (user,),
    )
    found: dict[tuple[str, str, int], dict[str, None]] = {}
    for name, query, asked_at, turns in rows:
        found.setdefault((name, query, asked_at), {}).update(dict.fromkeys(json.loads(turns)))
    return [(*recall, tuple(turns)) for recall, turns in found.items()]


SPAN: Final = "r.user_key = :user AND r.asked_at >= :first AND r.asked_at < :last"

USED: Final = "sum(CASE WHEN u.kind <> 'unused' THEN 1 ELSE 0 END)"
"""Number of items that a reply used."""

BY_COLUMN: Final = f"""
    SELECT m.{{column}}, count(*), {USED} FROM recalls r JOIN recall_items u ON u.recall = r.id
        JOIN memories m ON m.public_id = u.memory AND m.user_key = r.user_key
    WHERE {SPAN} GROUP BY 1 ORDER BY 3 DESC, 2 DESC, 1"""

BY_TAG: Final = f"""
    SELECT g.name, count(*), {USED} FROM recalls r JOIN recall_items u ON u.recall = r.id
        JOIN memories m ON m.public_id = u.memory AND m.user_key = r.user_key
        JOIN memory_tags x ON x.memory = m.id JOIN tags o ON o.id = x.tag JOIN tags g
            ON g.id = coalesce(o.merged_into, o.id)
    WHERE {SPAN} AND {SHOWN} GROUP BY g.id, g.name ORDER BY 3 DESC, 2 DESC, 1 LIMIT :limit"""

BY_ENTITY: Final = f"""
    SELECT u.name, count(*), {USED} FROM (
        SELECT DISTINCT e.id, e.name, u.recall, u.place, u.kind
        FROM recalls r JOIN recall_items u ON u.recall = r.id CROSS JOIN json_each(u.turns) AS n
            JOIN turns t ON t.user_key = r.user_key AND t.public_id = n.value
            JOIN turn_entities x ON x.turn = t.id JOIN entities e ON e.id = x.entity
        WHERE {SPAN}) u
    GROUP BY u.id, u.name ORDER BY 3 DESC, 2 DESC, 1 LIMIT :limit"""

LEAST_USED: Final = """
    SELECT public_id, text, accesses, accessed_at FROM memories WHERE user_key = :user
        AND merged_into IS NULL AND accesses = 0 AND valid_until IS NULL
    ORDER BY importance DESC, said_at DESC, id DESC LIMIT :limit"""

MOST_USED: Final = """
    SELECT public_id, text, accesses, accessed_at FROM memories WHERE user_key = :user
        AND merged_into IS NULL AND accesses > 0
    ORDER BY accesses DESC, accessed_at DESC NULLS LAST, id DESC LIMIT :limit"""


def asked(
    conn: Connection, user: UserKey, after: datetime | None, before: datetime | None, most: int
) -> list[AnsweredRecall]:
    """The latest recalls that a reply followed, in order."""
    latest = conn.records(
        AnsweredRecall,
        f"""SELECT r.asked_at, r.session, r.query, count(u.place), {USED}
            FROM recalls r LEFT JOIN recall_items u ON u.recall = r.id WHERE {SPAN}
            GROUP BY r.id, r.asked_at, r.session, r.query
            ORDER BY r.asked_at DESC, r.id DESC LIMIT :limit""",
        _span(user, after, before, most),
    )
    return latest[::-1]


def shares(
    conn: Connection, user: UserKey, after: datetime | None, before: datetime | None, limit: int
) -> dict[str, dict[str, UseCount]]:
    """Items given and used by "category", "kind", "tag" and "entity", the most used names first.

    Tags and entities are limited in number.
    """
    asked = _span(user, after, before, limit)
    queries = {
        "category": BY_COLUMN.format(column="category"),
        "kind": BY_COLUMN.format(column="kind"),
        "tag": BY_TAG,
        "entity": BY_ENTITY,
    }
    return {
        by: {name: UseCount(given, used) for name, given, used in conn.execute(sql, asked)}
        for by, sql in queries.items()
    }


def memories(
    conn: Connection, user: UserKey, limit: int
) -> tuple[list[UsedMemory], list[UsedMemory], int]:
    """The most used memories, current ones never used by importance, and their number."""
    named = {"user": user, "limit": limit}
    never = """SELECT count(*) FROM memories WHERE user_key = :user AND merged_into IS NULL
        AND accesses = 0 AND valid_until IS NULL"""
    return (
        conn.records(UsedMemory, MOST_USED, named),
        conn.records(UsedMemory, LEAST_USED, named),
        conn.scalar(never, named),
    )


def known_names(conn: Connection, user: UserKey, keys: Iterable[str]) -> dict[str, str]:
    """Names of the user's entities by key, of some keys."""
    rows = conn.execute(
        "SELECT key, name FROM entities WHERE user_key = ? AND key = ANY(?)", (user, list(keys))
    )
    return dict(rows.fetchall())


def _span(
    user: UserKey, after: datetime | None, before: datetime | None, limit: int
) -> dict[str, Any]:
    first, last = span(after, before)
    return {"user": user, "first": first, "last": last, "limit": limit}
