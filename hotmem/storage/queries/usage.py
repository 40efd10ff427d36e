"""What replies made of the blocks, of the latest ones item by item."""

import json
from collections.abc import Sequence
from typing import Final

from hotmem.storage.database import Connection
from hotmem.storage.queries import deletion_marks, quality
from hotmem.storage.queries.times import to_stored
from hotmem.types import ContextBlock, ItemUse, QualityRecord, UserKey

MOST_RECALLS: Final = 10_000
"""Recalls of a user that are kept item by item, the latest: 17 MB with 15 items each. What all
of them came to is in the quality record."""

PRUNED_EVERY: Final = 100
"""Recalls after which those beyond are removed, in 10 ms."""


def record(
    conn: Connection,
    user: UserKey,
    block: ContextBlock,
    uses: tuple[ItemUse, ...],
    *,
    interrupted: bool,
) -> bool:
    """Stores a block's usage once.

    False if it is known already, or the user had something forgotten since the block was made.
    """
    if deletion_marks.forgot_since(conn, user, block.forget_version):
        return False
    ms = sum(block.trace.stages.values())
    row = conn.execute(
        """INSERT OR IGNORE INTO recalls (public_id, user_key, session, query, asked_at, tokens, ms,
           interrupted)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id""",
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
    if row[0] % PRUNED_EVERY == 0:
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
    """Stores a block's usage once and adds its records to the user's quality; False as in `record`."""
    if not record(conn, user, block, uses, interrupted=interrupted):
        return False
    quality.add(conn, user, records)
    return True


def _prune(conn: Connection, user: UserKey) -> None:
    conn.execute(
        """DELETE FROM recalls WHERE id IN (SELECT id FROM recalls WHERE user_key = ?
            ORDER BY id DESC LIMIT -1 OFFSET ?)""",
        (user, MOST_RECALLS),
    )


def recorded(conn: Connection, user: UserKey) -> list[tuple[str, str, int, tuple[str, ...]]]:
    """Recalls that were of use.

    Block id, question, time asked (stored form) and the turns whose words were used.
    """
    rows = conn.execute(
        """SELECT r.public_id, r.query, r.asked_at, json_group_array(json(u.turns)) FROM recalls r
           JOIN recall_items u ON u.recall = r.id
           WHERE r.user_key = ? AND u.kind <> 'unused' GROUP BY r.id ORDER BY r.id""",
        (user,),
    )
    return [
        (
            name,
            query,
            asked_at,
            tuple(dict.fromkeys(turn for turns in json.loads(used) for turn in turns)),
        )
        for name, query, asked_at, used in rows
    ]
