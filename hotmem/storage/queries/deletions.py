"""Deletions that can be restored until their retention period is over.

The rows are kept as data that no search reaches.

    forget ─▶ rows deleted ─▶ deletions, deleted_rows
                                 ├▶ restored: the same rows, with ids, vectors, index entries, links
                                 └▶ erased: the period is over, or the same is forgotten for good

A deletion records each changed row as it was before and after. Restoring it inserts deleted rows
again, parents before children, and resets changed columns that nobody has changed since. A row that
has replaced a deleted one meanwhile (a session that continued, a name mentioned again) stays, and
what belonged to the deleted row is attached to it.
"""

import json
from collections.abc import Collection
from datetime import datetime
from functools import partial
from typing import Final

from hotmem.storage.database import Connection
from hotmem.storage.queries import deletion_marks, encoders, forget, memory_changes, reembedding
from hotmem.storage.queries.cascade import rewrite_indexes
from hotmem.storage.queries.deleted_rows import (
    FOREIGN_KEYS,
    Row,
    load,
    net_changes,
    to_json,
)
from hotmem.storage.queries.locks import lock_users
from hotmem.storage.queries.order import BEHIND, FIRST
from hotmem.storage.queries.restore import Restorer
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.text.names import name_finder
from hotmem.types import ForgetResult, Restorable, UserKey
from hotmem.types.forgetting import (
    ForgetEntity,
    ForgetEverything,
    ForgetMemory,
    ForgetSession,
    ForgetSpan,
    ForgetTarget,
    ForgetTurns,
)

USER_TABLES: Final = (
    *(
        "sessions",
        "turns",
        "memories",
        "entities",
        "tags",
        "evolutions",
        "decisions",
        "imports",
        "recalls",
        "speakers",
    ),
    *("weights", "intent_weights", "learning_state", "weight_history", "quality"),
    "extraction_calls",
)
"""Tables whose rows name a user. Rows of other tables are deleted with theirs."""


MISDATED: Final = "asked_at < ? OR asked_at > ?"
"""Condition of deletions made while the clock was wrong."""

LONGEST_PAUSE: Final = 366 * 86_400_000_000
"""Microseconds for which a database may have been closed before the clock is doubted."""


def delete(
    conn: Connection,
    user: UserKey,
    target: ForgetTarget,
    asked_at: datetime,
    erase_at: datetime,
    confirmed: Collection[str] | None = None,
) -> ForgetResult:
    """Deletes a target from all tables, and keeps its rows restorable until a time.

    Args:
        conn: The writer, within a transaction.
        user: The user.
        target: What is deleted.
        asked_at: When it was requested, UTC.
        erase_at: When it is erased, UTC.
        confirmed: The only ids that may be deleted; None for any.

    Raises:
        DeletionChanged: If something else would be deleted.
    """
    with conn.row_changes(FOREIGN_KEYS) as changes:
        remove = (
            _remove_all
            if isinstance(target, ForgetEverything)
            else partial(forget.remove, target=target)
        )
        removed = forget.count_removed(conn, user, remove, confirmed=confirmed)
    if not removed.anything:
        return removed
    counts = json.dumps(removed.counts())
    (key,) = conn.execute(
        """INSERT INTO deletions (user_key, asked_at, erase_at, counts, encoder)
            VALUES (?, ?, ?, ?, ?) RETURNING id""",
        (user, to_stored(asked_at), to_stored(erase_at), counts, _sole_encoder(conn)),
    ).fetchone()
    columns = {relation: conn.table_columns(relation) for relation in FOREIGN_KEYS}
    conn.executemany(
        """INSERT INTO deleted_rows (deletion, place, relation, before, after)
            VALUES (?, ?, ?, ?, ?)""",
        (
            (key, position, one.relation, to_json(one.before), to_json(one.after))
            for position, one in enumerate(net_changes(columns, changes))
        ),
    )
    return removed


def _sole_encoder(conn: Connection) -> str | None:
    """The encoder of all vectors in the database; None during a change of encoder."""
    return None if reembedding.former_encoder(conn) else encoders.current(conn)


def latest(conn: Connection, user: UserKey) -> Restorable | None:
    """The user's latest deletion that can be restored."""
    row = conn.execute(
        """SELECT asked_at, erase_at, counts FROM deletions WHERE user_key = ? ORDER BY id DESC
            LIMIT 1""",
        (user,),
    ).fetchone()
    return None if row is None else _restorable(*row)


def restore(conn: Connection, user: UserKey) -> tuple[Restorable, list[str]] | None:
    """Restores the user's latest deletion.

    Returns:
        The deletion and the restored texts; None if there is none.
    """
    row = conn.execute(
        """SELECT id, encoder, asked_at, erase_at, counts FROM deletions WHERE user_key = ?
            ORDER BY id DESC LIMIT 1""",
        (user,),
    ).fetchone()
    if row is None:
        return None
    key, encoder, *description = row
    changes = list(load(conn, user, key))
    conn.hold_encoder()
    Restorer(conn, user, description[0], embedded=encoder == encoders.current(conn)).restore(
        changes
    )
    conn.execute("DELETE FROM deletions WHERE user_key = ? AND id = ?", (user, key))
    texts = [
        change.before["text"]
        for change in changes
        if change.before is not None and change.relation in ("turns", "memories")
    ]
    return _restorable(*description), texts


def erase_due(conn: Connection, now: datetime) -> None:
    """Erases deletions whose period is over, and users of whom nothing else is left."""
    moment = to_stored(now)
    _lock_owners(conn, "erase_at <= ?", moment)
    owners = [
        row[0]
        for row in conn.execute(
            "DELETE FROM deletions WHERE erase_at <= ? RETURNING user_key", (moment,)
        ).fetchall()
    ]
    for user in dict.fromkeys(owners):
        remaining = " UNION ALL ".join(
            f"SELECT 1 FROM {table} WHERE user_key = :user" for table in (*USER_TABLES, "deletions")
        )
        conn.execute(
            f"DELETE FROM users WHERE id = :user AND NOT EXISTS ({remaining})", {"user": user}
        )


def is_clock_plausible(conn: Connection, now: datetime) -> bool:
    """Whether the clock was set, and has not advanced by a year since it was last plausible."""
    row = conn.execute("SELECT value FROM meta WHERE key = 'clock'").fetchone()
    return to_stored(now) >= FIRST and (
        row is None or to_stored(now) <= int(row[0]) + LONGEST_PAUSE
    )


def has_misdated(conn: Connection, now: datetime) -> bool:
    """Whether a deletion was made while the clock was wrong."""
    return (
        conn.execute(
            f"SELECT 1 FROM deletions WHERE {MISDATED} LIMIT 1", (FIRST, to_stored(now) + BEHIND)
        ).fetchone()
        is not None
    )


def redate(conn: Connection, now: datetime) -> None:
    """Restarts the retention period of deletions made while the clock was wrong."""
    moment = to_stored(now)
    _lock_owners(conn, MISDATED, FIRST, moment + BEHIND)
    conn.execute(
        f"UPDATE deletions SET erase_at = ? + erase_at - asked_at, asked_at = ? WHERE {MISDATED}",
        (moment, moment, FIRST, moment + BEHIND),
    )


def any_due(conn: Connection, now: datetime) -> bool:
    """Whether the retention period of a deletion is over."""
    return (
        conn.execute(
            "SELECT 1 FROM deletions WHERE erase_at <= ? LIMIT 1", (to_stored(now),)
        ).fetchone()
        is not None
    )


def erase_matching(conn: Connection, user: UserKey, target: ForgetTarget) -> None:
    """Erases the user's deletions that hold part of a target that is forgotten for good.

    Restoring them would bring it back.
    """
    keys = [
        row[0]
        for row in conn.execute("SELECT id FROM deletions WHERE user_key = ?", (user,)).fetchall()
    ]
    if not keys:
        return
    names = frozenset(target.turn_ids) if isinstance(target, ForgetTurns) else frozenset()
    matches = name_finder(target.name) if isinstance(target, ForgetEntity) else None
    session_id = target.session_id if isinstance(target, ForgetSession) else None
    memory_id = target.memory_id if isinstance(target, ForgetMemory) else None
    timed = isinstance(target, ForgetSpan)
    after, before = (
        (target.after, target.before) if isinstance(target, ForgetSpan) else (None, None)
    )
    live = conn.execute(
        "SELECT id FROM sessions WHERE user_key = ? AND public_id = ?", (user, session_id)
    ).fetchone()
    first = -(2**62) if after is None else to_stored(after)
    last = 2**62 if before is None else to_stored(before)

    def concerns(relation: str, row: Row, sessions: set[int]) -> bool:
        if matches is not None:
            texts = [value for value in row.values() if isinstance(value, str)]
            if relation == "decisions":
                texts += memory_changes.texts(row["changes"])
            return any(map(matches, texts))
        if relation == "turns":
            return (
                row["public_id"] in names
                or row["session"] in sessions
                or (timed and first <= row["spoken_at"] < last)
            )
        return relation == "memories" and (
            row["public_id"] == memory_id
            or (timed and row["stored_at"] is not None and first <= row["stored_at"] < last)
        )

    for key in keys:
        rows = [
            (change.relation, change.before)
            for change in load(conn, user, key)
            if change.before is not None
        ]
        sessions = {
            row["id"]
            for relation, row in rows
            if relation == "sessions" and row["public_id"] == session_id
        } | set(live or ())
        if any(concerns(relation, row, sessions) for relation, row in rows):
            conn.execute("DELETE FROM deletions WHERE user_key = ? AND id = ?", (user, key))


def _lock_owners(conn: Connection, condition: str, *values: int) -> None:
    """Locks the users of the deletions that meet a condition."""
    rows = conn.execute(f"SELECT DISTINCT user_key FROM deletions WHERE {condition}", values)
    lock_users(conn, [UserKey(user) for (user,) in rows.fetchall()])


def _remove_all(conn: Connection, user: UserKey) -> None:
    """Deletes all rows of a user except the user, who owns the deletions."""
    forget.add_tombstones(conn, user)
    deletion_marks.count(conn, user, everything=True)
    for table in (*USER_TABLES, "failures"):
        conn.execute(f"DELETE FROM {table} WHERE user_key = ?", (user,))
    rewrite_indexes(conn)


def _restorable(asked_at: int, erase_at: int, counts: str) -> Restorable:
    return Restorable(
        from_stored(asked_at), from_stored(erase_at), ForgetResult(**json.loads(counts))
    )
