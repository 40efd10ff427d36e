"""Usage of blocks by replies, item by item for the latest ones."""

import json
from collections.abc import Sequence
from typing import Final

from hotmem.storage.database import Connection
from hotmem.storage.queries import deletion_marks, quality
from hotmem.storage.queries.times import to_stored
from hotmem.types import ContextBlock, ItemUse, QualityRecord, UserKey

MOST_RECALLS: Final = 10_000
"""Latest recalls of a user that are stored item by item. The quality record sums up all of them."""

PRUNED_EVERY: Final = 100
"""Recalls beyond `MOST_RECALLS` that are deleted together."""


def record(
    conn: Connection,
    user: UserKey,
    block: ContextBlock,
    uses: tuple[ItemUse, ...],
    *,
    interrupted: bool,
) -> bool:
    """Stores the usage of a block once.

    False if it is stored already, or if the user forgot something since the block was composed.
    """
    if deletion_marks.forgot_since(conn, user, block.forget_version):
        return False
    ms = sum(block.trace.stages.values())
    row = conn.execute(
        """INSERT INTO recalls (public_id, user_key, session, query, asked_at, tokens, ms,
           interrupted)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id""",
        (
            block.id,
            user,
            block.session_id,
            block.query,
            to_stored(block.at),
            block.tokens,
            ms,
            interrupted,
        ),
    ).fetchone()
    if row is None:
        return False
    conn.executemany(
        """INSERT INTO recall_items (recall, place, layers, kind, strength, relevance, memory,
            turns) VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
        [
            (
                row[0],
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
    _prune(conn, user)
    return True


def record_with_quality(
    conn: Connection,
    user: UserKey,
    block: ContextBlock,
    uses: tuple[ItemUse, ...],
    records: Sequence[QualityRecord],
    *,
    interrupted: bool,
) -> bool:
    """Stores a block's usage once and adds to the quality record; False as in `record`."""
    if not record(conn, user, block, uses, interrupted=interrupted):
        return False
    quality.add(conn, user, records)
    return True


def _prune(conn: Connection, user: UserKey) -> None:
    counted = conn.execute("SELECT count(*) FROM recalls WHERE user_key = ?", (user,))
    if counted.fetchone()[0] < MOST_RECALLS + PRUNED_EVERY:
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
